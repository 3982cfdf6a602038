//! What one server is told that puts a line at risk.

use super::super::{Unreached, link::Link, transit::Failed, url::Address};

/// There are functions, and streams are used as they are, from this version on.
const VERSION_MIN: u32 = 7;

/// What a server says of itself.
#[derive(Debug, Default)]
struct Facts {
    version: String,
    eviction: Option<String>,
    append_only: Option<bool>,
    snapshots: Option<bool>,
}

/// Checks a server, which is called `which`; says what its settings put at risk.
pub(super) async fn check(
    link: &Link,
    server: &Address,
    which: &str,
) -> Result<Vec<String>, Unreached> {
    let facts = Facts::of(link, server).await?;
    let major = facts.version.split('.').next().unwrap_or_default();
    if major.parse::<u32>().is_ok_and(|major| major < VERSION_MIN) {
        let version = facts.version;
        let too_old = format!("{which} ({version}) is too old: 7.0 or later is needed");
        return Err(Unreached::Refused(too_old));
    }
    Ok(facts.warnings(which))
}

impl Facts {
    async fn of(link: &Link, server: &Address) -> Result<Self, Failed> {
        // By a script, since the fence asks in a function, where the same rights are needed.
        let mut info = redis::cmd("EVAL");
        info.arg("return redis.call('INFO', 'server') .. redis.call('INFO', 'memory') .. redis.call('INFO', 'persistence')")
            .arg(0);
        let text: String = link.query_at(server, &info).await?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.strip_prefix(':'))
                .map(str::to_owned)
        };
        // Managed servers keep this to themselves; then nothing is said of it.
        let mut save = redis::cmd("CONFIG");
        save.arg("GET").arg("save");
        let save: Option<Vec<String>> = link.query_at(server, &save).await.ok();
        Ok(Self {
            version: field("redis_version").unwrap_or_default(),
            eviction: field("maxmemory_policy"),
            append_only: field("aof_enabled").map(|enabled| enabled == "1"),
            snapshots: save.map(|save| save.get(1).is_some_and(|times| !times.is_empty())),
        })
    }

    fn warnings(&self, which: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(policy) = self
            .eviction
            .as_ref()
            .filter(|policy| *policy != "noeviction")
        {
            warnings.push(format!(
                "{which} may throw away whole lines when its memory is full (maxmemory-policy {policy}): set maxmemory-policy noeviction"
            ));
        }
        match (self.append_only, self.snapshots) {
            (Some(false), Some(false)) => warnings.push(
                format!("{which} keeps nothing on disk, so a restart forgets every line: set appendonly yes"),
            ),
            (Some(false), _) => warnings.push(
                format!("{which} keeps only snapshots, so a restart forgets minutes of joins: set appendonly yes"),
            ),
            _ => {}
        }
        warnings
    }
}
