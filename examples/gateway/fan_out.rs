//! Asks several upstreams at once. Whoever stops waiting, such as a client that leaves, stops all of it, but for what must be
//! heard to its end.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::answer::{Answer, Failure};
use crate::caller::Caller;
use crate::response::Body;
use crate::upstreams::{Spelling, Upstream};

/// A request to one of several upstreams.
pub(crate) struct Question {
    pub(crate) upstream: Upstream,
    pub(crate) request: Request<Full<Bytes>>,
}

/// What one of several upstreams said.
pub(crate) type Told<T> = (Upstream, Result<T, Failure>);

/// Sends all requests, and gives the results in the same order.
pub(crate) async fn ask(
    questions: Vec<Question>,
    spelling: Spelling,
    patience: Duration,
    in_session: bool,
) -> Vec<Told<Answer>> {
    each(questions, spelling, patience, move |response| Answer::read(response, in_session)).await
}

/// Sends the same body to these upstreams; those that take no part in the session are told as such.
pub(crate) async fn ask_same(
    upstreams: &[Upstream],
    caller: &Caller,
    body: &Bytes,
    spelling: Spelling,
    patience: Duration,
) -> Vec<Told<Answer>> {
    let questions =
        |upstream: &Upstream| Question { request: caller.post(upstream, body.clone()), upstream: upstream.clone() };
    let (there, away): (Vec<_>, Vec<_>) = upstreams.iter().partition(|upstream| caller.can_ask(upstream));
    let questions = there.into_iter().map(questions).collect();
    let mut told = ask(questions, spelling, patience, caller.is_in_session()).await;
    told.extend(away.into_iter().map(|upstream| (upstream.clone(), Err(was_away()))));
    told
}

/// The upstream took no part when the session began.
pub(crate) fn was_away() -> Failure {
    Failure::Unavailable("it was not available when this session began: initialize again".into())
}

/// Sends all requests, reads each response with `read`, and gives what that gives in the same order.
pub(crate) async fn each<T, R>(
    questions: Vec<Question>,
    spelling: Spelling,
    patience: Duration,
    read: impl Fn(Response<Body>) -> R + Clone + Send + Sync + 'static,
) -> Vec<Told<T>>
where
    T: Send + 'static,
    R: Future<Output = Result<T, Failure>> + Send,
{
    let mut names: Vec<_> = questions.iter().map(|question| (question.upstream.clone(), None)).collect();
    let mut tasks = JoinSet::new();
    for (at, question) in questions.into_iter().enumerate() {
        let read = read.clone();
        tasks.spawn(async move { (at, one(question, spelling, patience, |_, response| read(response)).await) });
    }
    while let Some(ended) = tasks.join_next().await {
        if let Ok((at, outcome)) = ended {
            names[at].1 = Some(outcome);
        }
    }
    names.into_iter().map(|(upstream, outcome)| (upstream, outcome.unwrap_or_else(unanswered))).collect()
}

/// The same where each answer is waited for, though no longer than `patience`, also once nobody is there to hear it: what `read`
/// gives is dropped then.
pub(crate) async fn each_to_its_end<T, R>(
    questions: Vec<Question>,
    spelling: Spelling,
    patience: Duration,
    read: impl Fn(Upstream, Response<Body>) -> R + Clone + Send + Sync + 'static,
) -> Vec<Told<T>>
where
    T: Send + 'static,
    R: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let ask = |question: Question| {
        let (upstream, read) = (question.upstream.clone(), read.clone());
        (upstream, tokio::spawn(one(question, spelling, patience, read)))
    };
    let asked: Vec<(_, JoinHandle<_>)> = questions.into_iter().map(ask).collect();
    let mut told = Vec::with_capacity(asked.len());
    for (upstream, task) in asked {
        told.push((upstream, task.await.unwrap_or_else(|_| unanswered())));
    }
    told
}

async fn one<T, R>(
    Question { upstream, request }: Question,
    spelling: Spelling,
    patience: Duration,
    read: impl Fn(Upstream, Response<Body>) -> R,
) -> Result<T, Failure>
where
    R: Future<Output = Result<T, Failure>>,
{
    let answer = async { read(upstream.clone(), upstream.send(spelling, request).await).await };
    let late = || Failure::Unavailable(format!("it did not answer within {patience:?}"));
    timeout(patience, answer).await.unwrap_or_else(|_| Err(late()))
}

fn unanswered<T>() -> Result<T, Failure> {
    Err(Failure::Unavailable("the question came to nothing".into()))
}
