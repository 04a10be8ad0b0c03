//! A service behind a bounded queue, as tower's `Buffer`: being ready means to hold a place in it.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tower::{Service, ServiceExt};

/// The way into the queue.
pub(crate) struct Queue<Q, F> {
    places: std::sync::Arc<Semaphore>,
    waiting: Option<Pin<Box<dyn Future<Output = OwnedSemaphorePermit> + Send>>>,
    place: Option<OwnedSemaphorePermit>,
    worker: mpsc::UnboundedSender<Message<Q, F>>,
}

type Message<Q, F> = (Q, OwnedSemaphorePermit, oneshot::Sender<F>);

impl<Q: Send + 'static, F: Send + 'static> Queue<Q, F> {
    /// Starts the worker, which calls the service in turn.
    pub(crate) fn new<S>(mut service: S, places: usize) -> Self
    where
        S: Service<Q, Future = F, Error = Infallible> + Send + 'static,
    {
        let (worker, mut messages) = mpsc::unbounded_channel::<Message<Q, F>>();
        tokio::spawn(async move {
            while let Some((request, place, answer)) = messages.recv().await {
                let Ok(service) = service.ready().await;
                drop(place);
                drop(answer.send(service.call(request)));
            }
        });
        Self { places: std::sync::Arc::new(Semaphore::new(places)), waiting: None, place: None, worker }
    }
}

impl<Q, F> Clone for Queue<Q, F> {
    fn clone(&self) -> Self {
        Self { places: self.places.clone(), waiting: None, place: None, worker: self.worker.clone() }
    }
}

impl<Q, F, R> Service<Q> for Queue<Q, F>
where
    Q: Send + 'static,
    F: Future<Output = Result<R, Infallible>> + Send + 'static,
{
    type Response = R;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<R, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.place.is_none() {
            let places = &self.places;
            let waiting = self.waiting.get_or_insert_with(|| {
                let places = places.clone();
                Box::pin(async move { places.acquire_owned().await.expect("nobody closes it") })
            });
            self.place = Some(ready!(waiting.as_mut().poll(cx)));
            self.waiting = None;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Q) -> Self::Future {
        let place = self.place.take().expect("it was polled ready");
        let (answer, answered) = oneshot::channel();
        let sent = self.worker.send((request, place, answer));
        assert!(sent.is_ok(), "the worker runs");
        Box::pin(async move { answered.await.expect("the worker runs").await })
    }
}
