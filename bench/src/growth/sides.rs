//! Servers with a line of a given length.

use std::path::Path;

use ropeline_testing::{Persistence, TestRedis};

use super::fill;
use crate::{
    Result, filled as written,
    http::{
        Target, admission,
        child::OwnServer,
        load::Filler,
        on_redis::{opponents, servers},
        product::{Product, Setup},
        requests,
        turns::Turns,
    },
    progress,
};

const SETTINGS: &str = include_str!("../../growth.toml");
const SERVICE_KEY: &str = "the-service-key-of-the-benchmark";

/// More tokens than this add memory and no insight.
const TOKENS: u64 = 20_000;

/// The tick of the room lets in one, who joins first; those who wait are numbered from here.
const FIRST: u64 = 1;

/// Who keeps the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Design {
    Embedded,
    OnRedis,
    Plain,
}

impl Design {
    pub(crate) const ALL: [Self; 3] = [Self::Embedded, Self::OnRedis, Self::Plain];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::OnRedis => "on Redis",
            Self::Plain => "plain on Redis",
        }
    }
}

/// One server, and the Redis that it alone uses.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) design: Design,
    pub(crate) waiting: u64,
    server: Server,
    redis: Option<TestRedis>,
}

#[derive(Debug)]
enum Server {
    Ropeline(Box<Product>),
    Plain(OwnServer),
}

impl Side {
    pub(crate) fn start(design: Design, waiting: u64, turns: &Turns<'_>) -> Result<Self> {
        progress::step(&format!("{}: a line of {waiting}", design.name()));
        let redis = match design {
            Design::Embedded => None,
            Design::OnRedis | Design::Plain => {
                Some(TestRedis::with(Persistence::EverySecond, &servers::OPTIONS))
            }
        };
        let url = redis.as_ref().map(TestRedis::url);
        let server = match (design, &url) {
            (Design::Plain, Some(url)) => Server::Plain(plain(url, waiting, turns)?),
            _ => Server::Ropeline(Box::new(filled(
                &turns.args.product,
                url.as_deref(),
                waiting,
                turns,
            )?)),
        };
        Ok(Self {
            design,
            waiting,
            server,
            redis,
        })
    }

    pub(crate) fn target(&self) -> Target {
        let target = match &self.server {
            Server::Ropeline(product) => product.target(),
            Server::Plain(server) => server.target(),
        };
        match &self.redis {
            None => target,
            Some(redis) => target.on(redis.process()),
        }
    }

    pub(crate) fn product(&self) -> Option<&Product> {
        match &self.server {
            Server::Ropeline(product) => Some(product),
            Server::Plain(_) => None,
        }
    }

    pub(crate) fn redis(&self) -> Option<&TestRedis> {
        self.redis.as_ref()
    }

    /// The tokens of visitors from one end of the line to the other.
    pub(crate) fn tokens(&self, turns: &Turns<'_>) -> Result<Vec<String>> {
        let count = self.waiting.min(TOKENS);
        let spread = (0..count).map(|index| FIRST + index * self.waiting / count);
        let visitors = spread.map(written::visitor);
        if self.product().is_none() {
            return Ok(visitors.collect());
        }
        // A back end that vouches for its users gets their tokens again, and their places stay.
        let joins = visitors.map(|visitor| {
            requests::post(
                "/api/v1/service/rooms/main/tokens",
                &format!("Authorization: Bearer {SERVICE_KEY}\r\n"),
                &format!(r#"{{"userId":"{visitor}"}}"#),
            )
        });
        let filler = Filler {
            address: self.target().address,
            joins: requests::prepared(joins),
            connections: turns.args.connections,
            keep_every: 1,
        };
        filler.fill(0..count)
    }

    pub(crate) fn last_words(&self) -> String {
        self.product().map(Product::last_words).unwrap_or_default()
    }
}

/// A server whose room has been filled while it was down.
pub(crate) fn filled(
    binary: &Path,
    redis: Option<&str>,
    waiting: u64,
    turns: &Turns<'_>,
) -> Result<Product> {
    let mut product = empty(binary, redis, turns)?;
    product.kill();
    match redis {
        None => fill::embedded(&product.data(), 0..FIRST + waiting)?,
        Some(url) => fill::redis(url, 0..FIRST + waiting)?,
    }
    let ready = product.start_again(turns.runtime())?;
    progress::step(&format!("ready after {:.2} s", ready.as_secs_f64()));
    match turns
        .runtime()
        .block_on(admission::waiting(&product, "main"))?
    {
        found if found == waiting => Ok(product),
        found => Err(format!("{waiting} joined, and {found} wait").into()),
    }
}

/// A server with the room that is to be filled.
pub(crate) fn empty(binary: &Path, redis: Option<&str>, turns: &Turns<'_>) -> Result<Product> {
    let setup = Setup {
        binary: binary.to_owned(),
        store: redis.unwrap_or("embedded").to_owned(),
        settings: SETTINGS.into(),
        service_key: Some(SERVICE_KEY),
        beneath: std::env::temp_dir(),
    };
    Product::with(setup, turns.runtime())
}

/// The plain design, which nobody enters but by its scheduler.
fn plain(url: &str, waiting: u64, turns: &Turns<'_>) -> Result<OwnServer> {
    turns
        .runtime()
        .block_on(written::sorted_set(url, written::LINE, FIRST + waiting))?;
    opponents::serve("card", url, 0, "0")
}
