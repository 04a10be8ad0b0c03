//! What the benches share: bodies, peers that do the same work, and services to put layers around.

#![allow(dead_code, reason = "each bench uses its part")]

pub mod corpus;
pub mod peers;
pub mod service;

use std::time::Duration;

use criterion::Criterion;

/// Short samples, many of them: other load on a machine comes in bursts, and minimum and median are what is read.
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_millis(2500))
        .sample_size(50)
        .without_plots()
        .configure_from_args()
}
