//! Servers on the loopback interface.

use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;

/// Serves a router on a free port of the loopback interface until the test's runtime ends.
pub(crate) async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("the loopback interface has a free port");
    let address = listener.local_addr().expect("a bound listener has an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}
