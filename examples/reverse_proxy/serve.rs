//! The accept loop: HTTP/1.1 and HTTP/2 (with prior knowledge) on one port, until told to stop.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::time;
use tower::util::MapRequest;
use tower::{BoxError, Service};

pub(crate) use linger::Lingering;

// Where this file is a module of another example, that is beside it all the same.
#[path = "linger.rs"]
mod linger;

/// How long exchanges in flight may go on after the stop; open event streams are cut then.
const GRACE: Duration = Duration::from_secs(5);

/// Pause after a failed accept: most often the process is out of file descriptors, and at once would fail again.
const BREATH: Duration = Duration::from_millis(50);

/// Serves `listener` with `service` until `stop`, then lets the exchanges in flight finish for a while.
pub(crate) async fn serve<S, B>(listener: TcpListener, service: S, stop: impl Future<Output = ()>)
where
    S: Service<Request<Lingering>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().timer(TokioTimer::new());
    server.http2().timer(TokioTimer::new());
    let heard: fn(Request<Incoming>) -> Request<Lingering> = linger::linger;
    let service = TowerToHyperService::new(MapRequest::new(service, heard));
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                eprintln!("accept: {error}");
                time::sleep(BREATH).await;
                continue;
            }
        };
        // Small events leave at once; a socket that cannot promise it still works.
        let _ = stream.set_nodelay(true);
        let connection = server.serve_connection(TokioIo::new(stream), service.clone()).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                eprintln!("connection: {error}");
            }
        });
    }
    drop(listener);
    if time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        eprintln!("cut the exchanges that were still open after {GRACE:?}");
    }
}
