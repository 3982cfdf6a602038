//! The list of open sessions, which all nodes share.
//!
//! What is in the store is what holds. A node remembers it, to answer without asking for each request, and looks for
//! changes every half second; a session that it has not heard of is looked for at once, since the browser may have logged
//! in on another node a moment ago. While the store is unavailable a node goes on with what it remembers, and what was
//! changed here meanwhile is changed there as soon as that works.

use std::{
    collections::VecDeque,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ropeline_core::Timestamp;
use ropeline_store::StoreError;
use serde::{Deserialize, Serialize};

use crate::shared::SharedTexts;

/// The name of the text.
const NAME: &str = "admin-sessions";
/// More than there are operators. The oldest is ended for one that is opened beyond this.
const SESSIONS_MAX: usize = 100;
/// Logins and logouts that wait for the store; those of operators, so there are few.
const WAITING_MAX: usize = 1_000;
/// How long a session that is not open is not looked for again, and how many such sessions are remembered.
const MISSED: Duration = Duration::from_secs(1);
const MISSED_MAX: usize = 100;
/// Each time that another node is faster, one of its changes is done.
const TRIES_MAX: usize = 32;

/// A session that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenSession {
    pub(crate) id: String,
    /// What tells the admin key with which it was opened from others.
    pub(crate) key: String,
    pub(crate) opened_at: Timestamp,
    /// To about a minute.
    pub(crate) used_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) address: IpAddr,
}

/// What happens to the list.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Open(OpenSession),
    /// The session of this id is used.
    Use(String),
    End(String),
    EndAll,
}

#[derive(Debug)]
pub(super) struct OpenSessions {
    texts: Arc<dyn SharedTexts>,
    state: Mutex<State>,
    /// Held by whoever takes up and makes changes.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// As last seen.
    sessions: Vec<OpenSession>,
    /// Changes that the store has not taken yet, and when they were made.
    waiting: Vec<(Change, Timestamp)>,
    /// Sessions that were looked for a moment ago and are not open. A browser that goes on with one that was ended must
    /// not make this node ask the store for each request.
    missed: VecDeque<(String, Timestamp)>,
}

impl State {
    /// Keeps a change until the store takes it.
    fn wait(&mut self, change: &Change, now: Timestamp) {
        // Nothing depends on when a session was used last, and its browser uses it again.
        if matches!(change, Change::Use(_)) {
            return;
        }
        if self.waiting.len() == WAITING_MAX {
            tracing::error!(
                "too many logins and logouts while the store is unavailable: the other nodes miss one"
            );
            return;
        }
        self.waiting.push((change.clone(), now));
    }

    fn is_missed(&self, id: &str, now: Timestamp) -> bool {
        let mut missed = self.missed.iter();
        missed.any(|(missed, at)| missed == id && now < *at + MISSED)
    }

    fn miss(&mut self, id: &str, now: Timestamp) {
        self.missed.truncate(MISSED_MAX - 1);
        self.missed.push_front((id.to_owned(), now));
    }
}

impl OpenSessions {
    pub(super) fn kept_in(texts: Arc<dyn SharedTexts>) -> Self {
        Self {
            texts,
            state: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        }
    }

    /// The open session of that id.
    pub(super) async fn find(&self, id: &str, now: Timestamp) -> Option<OpenSession> {
        if let Some(session) = self.remembered(id, now) {
            return Some(session);
        }
        if self.state().is_missed(id, now) {
            return None;
        }
        self.look(now).await;
        let found = self.remembered(id, now);
        if found.is_none() {
            self.state().miss(id, now);
        }
        found
    }

    /// All open sessions, the oldest first.
    pub(super) async fn list(&self, now: Timestamp) -> Result<Vec<OpenSession>, StoreError> {
        self.take_up(None, now).await?;
        Ok(self.state().sessions.clone())
    }

    /// Makes a change on all nodes. If the store is unavailable it holds on this node at once, and on the others later.
    pub(super) async fn change(&self, change: &Change, now: Timestamp) -> Result<(), StoreError> {
        let taken = self.take_up(Some(change), now).await;
        if taken.is_err() {
            let mut state = self.state();
            apply(&mut state.sessions, change, now);
            state.wait(change, now);
        }
        taken
    }

    /// Takes up what other nodes have changed. When the store is away, it says so itself.
    pub(super) async fn look(&self, now: Timestamp) {
        self.take_up(None, now).await.ok();
    }

    fn remembered(&self, id: &str, now: Timestamp) -> Option<OpenSession> {
        let state = self.state();
        let session = state.sessions.iter().find(|session| session.id == id)?;
        (now < session.expires_at).then(|| session.clone())
    }

    /// Reads the list, makes the changes that wait and this one, and writes it if it is another one then.
    async fn take_up(&self, change: Option<&Change>, now: Timestamp) -> Result<(), StoreError> {
        let _changing = self.changing.lock().await;
        for _ in 0..TRIES_MAX {
            let text = self.texts.read(NAME).await?;
            let (mut sessions, waiting) = {
                let state = self.state();
                // A store that was emptied is given back what this node remembers.
                let sessions = parse(text.as_deref()).unwrap_or_else(|| state.sessions.clone());
                (sessions, state.waiting.clone())
            };
            for (change, at) in &waiting {
                apply(&mut sessions, change, *at);
            }
            if let Some(change) = change {
                apply(&mut sessions, change, now);
            }
            sessions.retain(|session| now < session.expires_at);
            let new = to_text(&sessions);
            let is_same = text.as_deref() == Some(&new) || (text.is_none() && sessions.is_empty());
            if is_same || self.texts.replace(NAME, text.as_deref(), &new).await? {
                let mut state = self.state();
                state.sessions = sessions;
                state.waiting.drain(..waiting.len());
                return Ok(());
            }
        }
        Err(StoreError::Unavailable(
            "other nodes change the sessions all the time".into(),
        ))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn apply(sessions: &mut Vec<OpenSession>, change: &Change, at: Timestamp) {
    match change {
        // It is there already if the store took it and its answer was lost.
        Change::Open(session) if sessions.iter().any(|open| open.id == session.id) => {}
        Change::Open(session) => {
            sessions.push(session.clone());
            let surplus = sessions.len().saturating_sub(SESSIONS_MAX);
            sessions.drain(..surplus);
        }
        Change::Use(id) => {
            let used = sessions.iter_mut().filter(|session| session.id == *id);
            used.for_each(|session| session.used_at = session.used_at.max(at));
        }
        Change::End(id) => sessions.retain(|session| session.id != *id),
        Change::EndAll => sessions.clear(),
    }
}

/// The list of a text; none if it is not one.
fn parse(text: Option<&str>) -> Option<Vec<OpenSession>> {
    let parsed = serde_json::from_str(text?);
    parsed
        .inspect_err(|error| tracing::error!(%error, "the list of open sessions cannot be read and is written again"))
        .ok()
}

fn to_text(sessions: &[OpenSession]) -> String {
    serde_json::to_string(sessions).expect("sessions are plain data")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::memory::Memory;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn session(id: &str) -> OpenSession {
        OpenSession {
            id: id.to_owned(),
            key: "key".to_owned(),
            opened_at: NOW,
            used_at: NOW,
            expires_at: Timestamp(NOW.0 + 10_000),
            address: std::net::Ipv4Addr::LOCALHOST.into(),
        }
    }

    async fn open(sessions: &OpenSessions, id: &str) {
        let opened = sessions.change(&Change::Open(session(id)), NOW).await;
        opened.unwrap();
    }

    #[tokio::test]
    async fn beyond_so_many_sessions_the_oldest_is_ended() {
        let sessions = OpenSessions::kept_in(Arc::<Memory>::default());
        for n in 0..=SESSIONS_MAX {
            open(&sessions, &n.to_string()).await;
        }
        assert!(sessions.find("0", NOW).await.is_none());
        assert!(sessions.find("1", NOW).await.is_some());
        assert_eq!(sessions.list(NOW).await.unwrap().len(), SESSIONS_MAX);
    }

    #[tokio::test]
    async fn what_is_ended_while_the_store_is_away_is_ended_everywhere_later() {
        let texts = Arc::<Memory>::default();
        let [here, there] = [(); 2].map(|()| OpenSessions::kept_in(Arc::clone(&texts) as _));
        open(&here, "a").await;
        open(&here, "b").await;
        assert!(there.find("a", NOW).await.is_some());
        texts.set_away(true);
        assert!(
            here.change(&Change::End("a".to_owned()), NOW)
                .await
                .is_err()
        );
        assert!(
            here.find("a", NOW).await.is_none(),
            "here it is ended at once"
        );
        assert!(here.find("b", NOW).await.is_some(), "and the others go on");
        texts.set_away(false);
        here.look(NOW).await;
        there.look(NOW).await;
        assert!(there.find("a", NOW).await.is_none());
        assert!(there.find("b", NOW).await.is_some());
    }

    #[tokio::test]
    async fn a_logout_holds_however_long_others_use_the_page_while_the_store_is_away() {
        let texts = Arc::<Memory>::default();
        let sessions = OpenSessions::kept_in(Arc::clone(&texts) as _);
        open(&sessions, "a").await;
        open(&sessions, "b").await;
        texts.set_away(true);
        for _ in 0..2 * WAITING_MAX {
            let used = sessions.change(&Change::Use("b".to_owned()), NOW).await;
            assert!(used.is_err());
        }
        let end = Change::End("a".to_owned());
        assert!(sessions.change(&end, NOW).await.is_err());
        texts.set_away(false);
        sessions.look(NOW).await;
        assert!(sessions.find("a", NOW).await.is_none());
        assert!(sessions.find("b", NOW).await.is_some());
    }

    #[tokio::test]
    async fn a_session_whose_opening_was_taken_without_an_answer_is_listed_once() {
        let texts = Arc::<Memory>::default();
        let sessions = OpenSessions::kept_in(Arc::clone(&texts) as _);
        texts.lose_answers(true);
        let opened = sessions.change(&Change::Open(session("a")), NOW).await;
        assert!(opened.is_err());
        texts.lose_answers(false);
        assert_eq!(sessions.list(NOW).await.unwrap(), [session("a")]);
    }

    #[tokio::test]
    async fn a_session_that_is_not_open_is_looked_for_once_a_second() {
        let texts = Arc::<Memory>::default();
        let [here, there] = [(); 2].map(|()| OpenSessions::kept_in(Arc::clone(&texts) as _));
        assert!(here.find("a", NOW).await.is_none());
        open(&there, "a").await;
        assert!(
            here.find("a", NOW).await.is_none(),
            "the store is not asked again"
        );
        let later = Timestamp(NOW.0 + 999);
        assert!(here.find("a", later).await.is_none());
        let later = NOW + MISSED;
        assert!(here.find("a", later).await.is_some());
        for n in 0..2 * MISSED_MAX {
            here.find(&n.to_string(), NOW).await;
        }
        assert_eq!(here.state().missed.len(), MISSED_MAX);
    }

    #[tokio::test]
    async fn a_list_that_was_lost_is_put_back() {
        let texts = Arc::<Memory>::default();
        let sessions = OpenSessions::kept_in(Arc::clone(&texts) as _);
        open(&sessions, "a").await;
        for lost in [None, Some("junk")] {
            texts.texts().clear();
            if let Some(junk) = lost {
                texts.texts().insert(NAME.to_owned(), junk.to_owned());
            }
            sessions.look(NOW).await;
            let other = OpenSessions::kept_in(Arc::clone(&texts) as _);
            assert!(other.find("a", NOW).await.is_some(), "{lost:?}");
        }
    }

    #[tokio::test]
    async fn nodes_that_change_the_list_together_lose_no_change() {
        let texts = Arc::<Memory>::default();
        let nodes = [(); 4].map(|()| OpenSessions::kept_in(Arc::clone(&texts) as _));
        let [a, b, c, d] = &nodes;
        tokio::join!(open(a, "a"), open(b, "b"), open(c, "c"), open(d, "d"));
        assert_eq!(a.list(NOW).await.unwrap().len(), nodes.len());
    }
}
