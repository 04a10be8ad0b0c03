//! The connection to Valkey: made when it is needed, and again when it is lost, but not more often than once a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, FromRedisValue, Pipeline, RedisError};
use tokio::sync::Mutex;

/// How long nothing is asked after a failure.
pub(super) const REST: Duration = Duration::from_secs(1);

/// How long a connection may take, and an answer.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) struct Link {
    client: Client,
    connection: Mutex<Option<MultiplexedConnection>>,
    started: Instant,
    /// Until when nothing is asked, in milliseconds since the start.
    rests_until: AtomicU64,
    /// How often there was an answer.
    answers: AtomicU64,
}

impl Link {
    pub(super) fn new(url: &str) -> Result<Self, RedisError> {
        let client = Client::open(url)?;
        Ok(Self {
            client,
            connection: Mutex::new(None),
            started: Instant::now(),
            rests_until: AtomicU64::new(0),
            answers: AtomicU64::new(0),
        })
    }

    /// Whether there was no failure a moment ago.
    pub(super) fn may_work(&self) -> bool {
        self.now() >= self.rests_until.load(Ordering::Relaxed)
    }

    /// A number that grows with each answer, whoever asked.
    pub(super) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Something failed: for a moment nothing is asked, and then on a new connection.
    pub(super) fn failed(&self, why: &str) {
        let rest = u64::try_from(REST.as_millis()).unwrap_or_default();
        self.rests_until.store(self.now() + rest, Ordering::Relaxed);
        if let Ok(mut connection) = self.connection.try_lock() {
            *connection = None;
        }
        tracing::warn!(target: "tower_mcp_apps::restore", why, "the store of all replicas fails: each goes by what it heard");
    }

    /// The answers to these commands; `None` where there are none.
    pub(super) async fn ask<T: FromRedisValue>(&self, commands: &Pipeline) -> Option<T> {
        if !self.may_work() {
            return None;
        }
        let asked = async {
            let mut connection = self.connect().await?;
            commands.query_async::<T>(&mut connection).await
        };
        match asked.await {
            Ok(answers) => {
                self.answers.fetch_add(1, Ordering::Relaxed);
                Some(answers)
            }
            Err(error) => {
                self.failed(&error.to_string());
                None
            }
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, RedisError> {
        let mut connection = self.connection.lock().await;
        if let Some(connection) = &*connection {
            return Ok(connection.clone());
        }
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(Some(PATIENCE)).set_response_timeout(Some(PATIENCE));
        let new = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        *connection = Some(new.clone());
        Ok(new)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
