//! The example `gateway` as a program, before scripted and real servers, in both eras.

#[path = "../kit/mod.rs"]
mod kit;
#[path = "../servers/mod.rs"]
mod servers;

mod apps;
mod failures;
mod greeting;
mod lists;
mod real;
mod replicas;
mod requests;
mod routing;
mod streams;
mod world;
