//! The server that is loaded, and what can be known of it beforehand.

use std::time::Duration;

use ropeline_core::RoomId;
use ropeline_server::config::Settings;

use super::{policy::RoomPolicy, progress::ReportFor};
use crate::{
    failure::Failure,
    http::{BaseUrl, Bounds, Http, KeyDirectory, admin_key},
    units::room,
};

/// An answer that takes longer is lost: people reload sooner.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Which server and room, and how the report is told.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Target {
    /// The server [default: the address that the settings listen on]
    #[arg(long)]
    pub(crate) url: Option<BaseUrl>,

    /// The room that visitors want into
    #[arg(long, default_value = "main", value_parser = room)]
    pub(crate) room: RoomId,

    /// How many may be inside at once [default: asked of the server, where the admin key is at hand]
    #[arg(long, value_name = "N")]
    pub(crate) cap: Option<u64>,

    /// Connections to the server at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) connections: u16,

    /// Print the report as JSON, and progress on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

impl Target {
    pub(crate) fn report_for(&self) -> ReportFor {
        if self.json {
            ReportFor::Programs
        } else {
            ReportFor::People
        }
    }
}

/// A server that answered.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) http: Http,
    pub(crate) room: RoomId,
    key: Option<String>,
    told_cap: Option<u64>,
    /// When the run began.
    policy: Option<RoomPolicy>,
}

impl Server {
    /// Says at once if nobody is there.
    pub(crate) async fn reach(
        target: &Target,
        settings: &Settings,
        directory: KeyDirectory,
    ) -> Result<Self, Failure> {
        let base = target.url.clone();
        let base = base.unwrap_or_else(|| BaseUrl::of_listener(settings.listen));
        let bounds = Bounds {
            answer_max: ANSWER_MAX,
            connections_max: target.connections.into(),
        };
        let http = Http::new(base, bounds)?;
        http.send(http.get("/readyz")).await?;
        // Without the key less is judged, and nothing fails.
        let key = admin_key(settings, http.base(), directory);
        let key = key.ok().flatten();
        let mut server = Self {
            http,
            room: target.room.clone(),
            key,
            told_cap: target.cap,
            policy: None,
        };
        server.policy = server.ask_policy().await;
        Ok(server)
    }

    pub(crate) async fn ask_policy(&self) -> Option<RoomPolicy> {
        RoomPolicy::ask(&self.http, &self.room, self.key.as_deref()).await
    }

    /// The cap that nobody may have been above, if it is known.
    pub(crate) fn cap(&self, after: Option<RoomPolicy>) -> Option<u64> {
        self.told_cap.or_else(|| highest_cap(self.policy, after))
    }

    /// Nobody can join, and this is why.
    pub(crate) fn refusal(&self, why: &str) -> Failure {
        let (room, base) = (&self.room, self.http.base());
        Failure::Crowd(format!("nobody can join the room {room} at {base}: {why}"))
    }
}

/// A cap that was changed meanwhile may have been either; none at all at one time is no cap.
fn highest_cap(before: Option<RoomPolicy>, after: Option<RoomPolicy>) -> Option<u64> {
    let (before, after) = (before?.active_max?, after?.active_max?);
    Some(before.max(after))
}
