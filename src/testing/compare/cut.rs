//! The same outcome however bodies are cut into frames.

use std::panic::Location;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use tower_service::Service;

use super::difference::Difference;
use crate::testing::unanswered::BoxError;
use crate::testing::{Answer, Body, Cuts, FakeServer, TestClient, Unanswered, misuse};

/// A request gets the same answer however its own body, and all that the server answers, is cut into frames; and the same
/// bytes reach the server. The client's service is a stack around this server.
///
/// The stack is asked once for each way, so bodies should be short. What the server [remembers](FakeServer::requests) of
/// that is the first exchange.
///
/// ```
/// use serde_json::json;
/// use tower::Layer;
/// use tower_mcp_apps::AppsLayer;
/// use tower_mcp_apps::testing::{Cuts, FakeServer, TestClient, Unanswered, assert_same_however_cut};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let server = FakeServer::new().streaming().tool(json!({"name": "größe"}));
/// let mut client = TestClient::new(AppsLayer::new().layer(server.clone()));
/// let request = client.prepare("tools/call", json!({"name": "größe"}));
/// assert_same_however_cut(Cuts::Bytes, &server, &mut client, request).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Unanswered`] where the service fails.
///
/// # Panics
///
/// Where an outcome is another, telling how the body was cut.
#[track_caller]
pub fn assert_same_however_cut<'c, S, R>(
    cuts: Cuts,
    server: &'c FakeServer,
    client: &'c mut TestClient<S>,
    request: Request<Body>,
) -> impl Future<Output = Result<(), Unanswered>> + use<'c, S, R>
where
    S: Service<Request<Body>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: HttpBody<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let caller = Location::caller();
    async move {
        server.cut_answers(None);
        server.take_longest();
        let whole = Outcome::of(server, client, request.clone()).await?;
        let after = server.count();
        let longest = server.take_longest();
        let length = request.body().data_so_far().len();
        let answers = cuts.of(longest).into_iter().map(|places| (ANSWER, places));
        let requests = cuts.of(length).into_iter().map(|places| (REQUEST, places));
        let mut difference = None;
        for (what, places) in answers.chain(requests) {
            server.cut_answers((what == ANSWER).then(|| places.clone()));
            let request = match what {
                REQUEST => request.clone().map(|body| body.cut_at(&places)),
                _ => request.clone(),
            };
            let outcome = Outcome::of(server, client, request).await;
            server.forget_after(after);
            difference = whole.difference(&outcome?).map(|difference| (what, places, difference));
            if difference.is_some() {
                break;
            }
        }
        server.cut_answers(None);
        if let Some((what, places, difference)) = difference {
            misuse::fail(&format!("{caller}: the outcome is another where {what} is cut at {places:?}:\n{difference}"));
        }
        Ok(())
    }
}

/// What is cut.
const ANSWER: &str = "the server's answer";
const REQUEST: &str = "the request";

/// What came back, and what arrived.
struct Outcome {
    answer: Answer,
    arrived: Option<Bytes>,
}

impl Outcome {
    async fn of<S, R>(
        server: &FakeServer,
        client: &mut TestClient<S>,
        request: Request<Body>,
    ) -> Result<Self, Unanswered>
    where
        S: Service<Request<Body>, Response = Response<R>>,
        S::Error: Into<BoxError>,
        R: HttpBody<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        let before = server.count();
        let answer = client.send(request).await?;
        Ok(Self { answer, arrived: server.last_after(before) })
    }

    fn difference(&self, other: &Self) -> Option<Difference> {
        let pairs = [
            ("the status", status(&self.answer), status(&other.answer)),
            ("the body", self.answer.bytes().clone(), other.answer.bytes().clone()),
            ("the end of the body", end(&self.answer), end(&other.answer)),
            ("what reached the server", arrived(&self.arrived), arrived(&other.arrived)),
        ];
        let differs = pairs.into_iter().find(|(_, was, is): &(_, Bytes, Bytes)| was != is)?;
        Some(Difference::new(differs.0, "it differs", &differs.1, &differs.2))
    }
}

fn status(answer: &Answer) -> Bytes {
    answer.status().to_string().into()
}

fn end(answer: &Answer) -> Bytes {
    answer.error().unwrap_or("whole").to_owned().into()
}

fn arrived(bytes: &Option<Bytes>) -> Bytes {
    bytes.clone().unwrap_or_else(|| "nothing".into())
}
