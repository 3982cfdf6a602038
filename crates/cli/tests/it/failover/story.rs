//! A story: nodes on a store, those who come, a fault, and what is left when it is over.

use std::{thread, time::Duration};

use ropeline_core::Policy;
use ropeline_testing::{
    Pace, SentinelOptions, TestCluster, TestSentinels,
    history::{History, Violation},
};

use super::{away::away, witness::Witness};
use crate::{
    nodes::{
        self,
        cluster::{Cluster, section},
        plan::Manners,
        run::{Outcome, Scene, judged},
        silent::{self, Asker},
    },
    process::Site,
};

const NODES: u32 = 3;
/// Unix groups of nodes begin here; nobody else is in them.
const GROUPS_FROM: u32 = 54_400;
/// Into the rush, and while people are let in.
const FAULT_AFTER: Duration = Duration::from_secs(3);
/// Whoever comes in the end finds everything well.
const QUIET_AFTER: Duration = Duration::from_secs(2);
const VISITORS: usize = 180;
/// Whoever of the crowd is still in line by then stays there.
const OVER_AFTER: Duration = Duration::from_secs(32);

/// What befalls a store, and who must have what is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Story {
    pub(crate) fault: &'static str,
    pub(crate) on: On,
    /// As the setting is written.
    pub(crate) durability: &'static str,
}

/// The store, and what befalls it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum On {
    Sentinel {
        pace: Pace,
        befall: fn(&mut TestSentinels, &Witness<'_>),
    },
    Cluster {
        befall: fn(&mut TestCluster, &Witness<'_>),
    },
}

/// What came of a story.
pub(crate) struct Told {
    /// Everything that was asked.
    pub(crate) operations: usize,
    pub(crate) violations: Vec<Violation>,
    /// What was broken, in words.
    pub(crate) words: Vec<String>,
    /// After each fault, the longest time without an acknowledged join.
    pub(crate) away: Vec<Duration>,
    /// Those who join and never ask, room by room.
    pub(crate) silent: Vec<History>,
}

impl On {
    pub(crate) fn store(self) -> &'static str {
        match self {
            Self::Sentinel { .. } => "Sentinel",
            Self::Cluster { .. } => "Cluster",
        }
    }
}

impl Story {
    /// Nobody who polls is lost; and nobody else, where replicas confirm.
    pub(crate) fn asker(&self) -> Asker {
        match self.durability {
            "0" => Asker::Holder,
            _ => Asker::Operator,
        }
    }

    pub(crate) fn tell(&self) -> Told {
        self.tell_asked_by(self.asker())
    }

    pub(crate) fn tell_asked_by(&self, asker: Asker) -> Told {
        match self.on {
            On::Sentinel { pace, befall } => {
                let mut group = TestSentinels::with(&SentinelOptions {
                    pace,
                    ..SentinelOptions::default()
                });
                let url = group.url();
                let rooms = ["silent".to_owned()];
                self.play(&url, &rooms, asker, |witness| befall(&mut group, witness))
            }
            On::Cluster { befall } => {
                let mut cluster = TestCluster::start();
                let url = cluster.url();
                let rooms = [neighbour_of_main(&cluster)];
                self.play(&url, &rooms, asker, |witness| befall(&mut cluster, witness))
            }
        }
    }

    /// Plays it on a store: a crowd in `main`, and those who never ask in rooms of their own.
    pub(crate) fn play(
        &self,
        url: &str,
        rooms: &[String],
        asker: Asker,
        befall: impl FnOnce(&Witness<'_>) + Send,
    ) -> Told {
        let policy = crowd_policy();
        let groups: Vec<_> = (0..NODES).map(|node| GROUPS_FROM + node).collect();
        let settings = self.settings(&policy, rooms);
        let site = |group: &u32| {
            let site = Site::new(&settings).with_flag("--store", url);
            site.in_group(*group)
        };
        let nodes = Cluster::at(groups.iter().map(site));
        let scene = Scene {
            policy,
            manners: Manners::mixed(VISITORS, Duration::from_secs(9)),
            over_after: OVER_AFTER,
        };
        let mut silent = Vec::new();
        let outcome = scene.play(&nodes, |crowd| {
            silent = silent::come(&nodes, rooms, asker, |silent| {
                thread::sleep(FAULT_AFTER);
                befall(&Witness {
                    crowd: &crowd.recorder,
                    silent,
                    nodes: &nodes,
                    groups: &groups,
                });
                thread::sleep(QUIET_AFTER);
            });
        });
        self.judge(&outcome, silent)
    }

    fn settings(&self, policy: &Policy, rooms: &[String]) -> String {
        let mut settings = format!(
            "durability = {}\n[rate_limits]\nadmin_per_minute = 0\n{}\n",
            self.durability,
            section("main", policy)
        );
        for room in rooms {
            settings += &section(room, &silent::policy());
            settings.push('\n');
        }
        settings
    }

    #[expect(clippy::print_stdout, reason = "a run that went well says what it was")]
    fn judge(&self, crowd: &Outcome, silent: Vec<History>) -> Told {
        let mut told = Told {
            operations: 0,
            violations: Vec::new(),
            words: Vec::new(),
            away: silent.first().map(away).unwrap_or_default(),
            silent,
        };
        let name = self.name();
        for (at, history) in [&crowd.history].into_iter().chain(&told.silent).enumerate() {
            told.operations += history.records.len();
            if let Err(broken) = judged(&format!("{name}-{at}"), history) {
                told.violations.extend(broken.violations);
                told.words.push(broken.words);
            }
        }
        println!(
            "{name}: {} operations, away for {:.2?}; {}",
            told.operations,
            told.away,
            crowd.summary()
        );
        told
    }

    /// A name for its files.
    pub(crate) fn name(&self) -> String {
        let words = format!("{} {} {}", self.on.store(), self.fault, self.durability);
        let letters = words.to_lowercase();
        let letters = letters.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        letters.trim_matches('-').to_owned()
    }
}

impl Told {
    /// No rule was broken, and joins were taken again in time.
    #[track_caller]
    pub(crate) fn holds(&self, away_max: Duration) {
        assert!(self.words.is_empty(), "{}", self.words.join("\n"));
        let late = self.away.iter().any(|away| *away > away_max);
        assert!(!late, "no join was acknowledged for {:.2?}", self.away);
    }
}

/// They come faster than they are let in.
fn crowd_policy() -> Policy {
    Policy {
        batch: Some(8),
        ..nodes::policy()
    }
}

/// A room that the same servers of a Cluster keep as `main`.
pub(crate) fn neighbour_of_main(cluster: &TestCluster) -> String {
    let owner = cluster.owner_of("{main}");
    room_of(cluster, owner)
}

/// The name of a room that a server of a Cluster keeps.
pub(crate) fn room_of(cluster: &TestCluster, owner: usize) -> String {
    let mut names = (0..).map(|number| format!("silent-{number}"));
    let name = names.find(|name| cluster.owner_of(&format!("{{{name}}}")) == owner);
    name.expect("there is no end of names")
}
