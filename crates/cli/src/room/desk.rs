//! The admin API of one server.

use std::time::Duration;

use reqwest::Method;
use ropeline_core::RoomId;
use ropeline_server::config::{Overrides, Settings};
use serde_json::Value;

use super::{
    args::ServerArgs,
    trouble::Trouble,
    views::{Room, RoomList, Stats, read},
};
use crate::{
    args::TypedFlags,
    failure::Failure,
    http::{Answer, BaseUrl, Bounds, Http, KeyDirectory, admin_key, as_operator},
};

/// As long as an operator looks at a command that says nothing.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Where an operator asks and tells.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    http: Http,
    key: String,
}

impl Desk {
    pub(crate) fn new(
        server: &ServerArgs,
        overrides: &Overrides,
        typed: &TypedFlags,
    ) -> Result<Self, Failure> {
        let settings = Settings::load(overrides)?;
        let url = server.url.0.clone();
        let directory = KeyDirectory::of(typed, url.as_ref());
        let base = url.unwrap_or_else(|| BaseUrl::of_listener(settings.listen));
        let key = admin_key(&settings, &base, directory);
        let key = key.map_err(|why| Trouble::unreadable_key(&settings.data, &why))?;
        let Some(key) = key else {
            return Err(Trouble::no_key(&base, &settings.data).into());
        };
        let bounds = Bounds {
            answer_max: ANSWER_MAX,
            connections_max: 2,
        };
        let http = Http::new(base, bounds)?;
        Ok(Self { http, key })
    }

    pub(super) fn base(&self) -> &BaseUrl {
        self.http.base()
    }

    /// The list of rooms as answered.
    pub(super) async fn list(&self) -> Result<Answer, Trouble> {
        self.send(Method::GET, "", None).await
    }

    pub(super) async fn rooms(&self) -> Result<Vec<Room>, Trouble> {
        let RoomList { rooms } = read(&self.list().await?)?;
        Ok(rooms)
    }

    /// A room as answered.
    pub(super) async fn room(&self, room: &RoomId) -> Result<Answer, Trouble> {
        self.send(Method::GET, &format!("/{room}"), None).await
    }

    /// The figures of a quarter of an hour as answered.
    pub(super) async fn stats(&self, room: &RoomId) -> Result<Answer, Trouble> {
        let path = format!("/{room}/stats?window=15m");
        self.send(Method::GET, &path, None).await
    }

    pub(super) async fn stats_read(&self, room: &RoomId) -> Result<Stats, Trouble> {
        read(&self.stats(room).await?)
    }

    /// Sends to a path below the rooms, and gives the answer if it is yes.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Trouble> {
        let answer = self.exchange(method, path, body).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        let refused = Trouble::refused(self.base(), &answer);
        match path.trim_start_matches('/').split(['/', '?']).next() {
            Some(room) if refused.is_unknown_room() => Err(self.with_rooms(room).await),
            _ => Err(refused),
        }
    }

    /// Sends to a path of the admin API, and gives the answer if it is yes.
    pub(crate) async fn ask(&self, method: Method, path: &str) -> Result<Answer, Trouble> {
        let path = format!("/api/v1/admin{path}");
        let request = as_operator(self.http.request(method, &path), &self.key);
        let answer = self.http.send(request).await.map_err(Trouble::Away)?;
        if answer.status.is_success() {
            Ok(answer)
        } else {
            Err(Trouble::refused(self.base(), &answer))
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Trouble> {
        let path = format!("/api/v1/admin/rooms{path}");
        let mut request = as_operator(self.http.request(method, &path), &self.key);
        if let Some(body) = body {
            request = request.json(body);
        }
        self.http.send(request).await.map_err(Trouble::Away)
    }

    /// That there is no such room, with those that there are.
    async fn with_rooms(&self, room: &str) -> Trouble {
        let answer = self.exchange(Method::GET, "", None).await;
        let rooms = answer.and_then(|answer| read::<RoomList>(&answer));
        let rooms = rooms.map(|list| list.rooms).unwrap_or_default();
        Trouble::unknown_room(room, rooms.iter().map(|room| room.id.as_str()))
    }
}
