//! The store at the start: the data directory's own, or a Redis, which is waited for.

use std::{sync::Arc, time::Duration};

use ropeline_store::{
    Clock, EmbeddedStore, OpenError, RedisOptions, RedisStore, RedisUrl, Store, Unreached,
};

use super::StartError;
use crate::{
    config::{GateRule, Settings, StoreChoice},
    shared::SharedTexts,
    token::random,
};

/// How long to wait between two tries.
struct Pauses {
    /// At first; each is twice the one before.
    first: Duration,
    /// At last, and between two words to the operator.
    last: Duration,
}

const PAUSES: Pauses = Pauses {
    first: Duration::from_millis(250),
    last: Duration::from_secs(5),
};

/// A store that is ready.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    /// Where its nodes share their keys, if there may be others.
    pub(crate) shared: Option<Arc<dyn SharedTexts>>,
    /// What an operator must hear of.
    pub(crate) warnings: Vec<String>,
}

/// Opens the store of the settings.
///
/// A Redis that cannot be reached is waited for, since machines start in any order and a server that gives
/// up has to be started by hand. One that refuses us is an error at once: waiting would not change it.
pub(super) async fn open(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> Result<Opened, StartError> {
    let mut warnings = Vec::new();
    if settings.outage.gate == GateRule::Open {
        warnings.push(
            "on_store_error is \"open\": while the store is away EVERYBODY is let through the gate"
                .to_owned(),
        );
    }
    let (store, shared): (Arc<dyn Store>, Option<Arc<dyn SharedTexts>>) = match &settings.store {
        StoreChoice::Embedded => {
            // The store makes its directory too, but knows no other database.
            if settings.database.is_some() {
                make_directory(settings)?;
            }
            let store = EmbeddedStore::open(&settings.data, Arc::clone(clock))?;
            (Arc::new(store), None)
        }
        StoreChoice::Redis(url) => {
            make_directory(settings)?;
            let options = RedisOptions {
                durability: settings.durability,
                record: Some(settings.data.clone()),
                ..RedisOptions::default()
            };
            let open =
                async || RedisStore::open_with(url, Arc::clone(clock), options.clone()).await;
            let store = Arc::new(await_redis(url, PAUSES, open).await?);
            warnings.extend_from_slice(store.warnings());
            (Arc::clone(&store) as _, Some(store))
        }
    };
    Ok(Opened {
        store,
        shared,
        warnings,
    })
}

/// Keys and the audit log are on the disk of each node.
fn make_directory(settings: &Settings) -> Result<(), OpenError> {
    let made = settings.make_data_directory();
    made.map_err(|cause| OpenError::Directory {
        directory: settings.data.display().to_string(),
        cause,
    })
}

/// Tries until it is done or there is no point, and says every few seconds what it waits for.
async fn await_redis<T>(
    url: &RedisUrl,
    pauses: Pauses,
    mut attempt: impl AsyncFnMut() -> Result<T, Unreached>,
) -> Result<T, StartError> {
    let (mut pause, mut silent) = (pauses.first, pauses.last);
    loop {
        match attempt().await {
            Ok(done) => return Ok(done),
            Err(Unreached::Refused(cause)) => {
                return Err(StartError::Store {
                    url: url.to_string(),
                    cause,
                });
            }
            Err(Unreached::Away(cause)) if silent >= pauses.last => {
                silent = Duration::ZERO;
                tracing::warn!("waiting for the store {url}: {cause}");
            }
            Err(Unreached::Away(_)) => {}
        }
        let pause_now = jittered(pause);
        tokio::time::sleep(pause_now).await;
        silent += pause_now;
        pause = (pause * 2).min(pauses.last);
    }
}

/// Up to a quarter longer, so that nodes which lost Redis together do not come back together.
fn jittered(pause: Duration) -> Duration {
    pause + pause.mul_f64(f64::from(random::<1>()[0]) / 1_024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Pauses = Pauses {
        first: Duration::from_micros(10),
        last: Duration::from_micros(100),
    };

    /// What becomes of a Redis that answers each try with the next of these.
    async fn tried(answers: &[Result<(), Unreached>]) -> (usize, Result<(), String>) {
        let url = "redis://:hunter2@127.0.0.1:1".parse().unwrap();
        let mut tries = 0;
        let opened = await_redis(&url, SHORT, async || {
            tries += 1;
            answers[tries - 1].clone()
        });
        let opened = opened.await.map_err(|error| error.to_string());
        (tries, opened)
    }

    #[tokio::test]
    async fn a_redis_that_is_away_is_tried_again_until_it_is_there() {
        let away = Err(Unreached::Away("nothing listens there".into()));
        let mut answers = vec![away; 20];
        answers.push(Ok(()));
        assert_eq!(tried(&answers).await, (21, Ok(())));
    }

    #[tokio::test]
    async fn one_that_refuses_is_told_at_once_and_without_its_password() {
        let refused = Err(Unreached::Refused("wrong password".into()));
        let told = "cannot use the store redis://:…@127.0.0.1:1: wrong password";
        assert_eq!(tried(&[refused]).await, (1, Err(told.to_owned())));
    }

    #[test]
    fn pauses_differ_by_a_quarter_at_most() {
        let pause = PAUSES.last;
        for _ in 0..100 {
            assert!((pause..=pause.mul_f64(1.25)).contains(&jittered(pause)));
        }
    }
}
