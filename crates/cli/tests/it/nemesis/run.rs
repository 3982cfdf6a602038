//! One run: nodes on a store, a crowd, those who never ask, a schedule of faults, and the verdict.

use std::{sync::RwLock, thread, time::Duration};

use ropeline_core::Policy;
use ropeline_testing::history::Violation;

use super::{
    NODES, fault::Topology, inject::Nemesis, records::Records, schedule::Schedule, store::Store,
};
use crate::{
    nodes::{
        self,
        cluster::{Cluster, section},
        plan::Manners,
        run::{Scene, judged},
        silent::{self, Asker},
    },
    process::Site,
};

/// Unix groups of nodes begin here; nobody else is in them.
const GROUPS_FROM: u32 = 54_500;
const VISITORS: usize = 80;
const ARRIVE: Duration = Duration::from_secs(12);
/// Whoever of the crowd is still in line by then stays there.
const OVER_AFTER: Duration = Duration::from_secs(22);
/// Whoever comes in the end finds everything well.
const QUIET_AFTER: Duration = Duration::from_secs(2);

/// What came of a run.
pub(super) struct Run {
    pub(super) schedule: Schedule,
    pub(super) operations: usize,
    pub(super) violations: Vec<Violation>,
    /// The schedule, what happened, and the broken rules.
    pub(super) story: String,
}

impl Run {
    /// Goes through a schedule.
    pub(super) fn of(schedule: Schedule) -> Self {
        let store = Store::start(&schedule);
        let rooms = [store.second_room().to_owned()];
        let groups: Vec<_> = (GROUPS_FROM..).take(NODES).collect();
        let nodes = start_nodes(&schedule, &store, &rooms[0], &groups);
        let store = RwLock::new(store);
        let scene = Scene {
            policy: policy(),
            manners: Manners {
                stay_ms: 500..=1_500,
                ..Manners::mixed(VISITORS, ARRIVE)
            },
            over_after: OVER_AFTER,
        };
        let (mut silent, mut events) = (Vec::new(), Vec::new());
        let outcome = scene.play(&nodes, |crowd| {
            silent = silent::come(&nodes, &rooms, Asker::Both, |silent| {
                let records = Records::new(&crowd.recorder, silent[0]);
                let nemesis = Nemesis {
                    store: &store,
                    nodes: &nodes,
                    groups: &groups,
                    records: &records,
                    persistence: schedule.persistence,
                };
                nemesis.play(&schedule);
                thread::sleep(QUIET_AFTER);
                events = records.events();
            });
        });
        let mut run = Self {
            operations: 0,
            violations: Vec::new(),
            story: format!("{schedule}\nwhat happened:\n{}", events.join("\n")),
            schedule,
        };
        for (room, history) in [("main", &outcome.history), ("silent", &silent[0])] {
            run.operations += history.records.len();
            let name = format!(
                "nemesis-{}-{}-{room}",
                run.schedule.topology, run.schedule.seed
            );
            if let Err(broken) = judged(&name, history) {
                run.violations.extend(broken.violations);
                run.story.push('\n');
                run.story.push_str(&broken.words);
            }
        }
        run
    }
}

fn start_nodes(schedule: &Schedule, store: &Store, second: &str, groups: &[u32]) -> Cluster {
    let settings = format!(
        "durability = {}\n[rate_limits]\nadmin_per_minute = 0\n{}\n{}\n",
        schedule.durability,
        section("main", &policy()),
        section(second, &silent::policy()),
    );
    let sites = groups.iter().map(|group| {
        let site = Site::new(&settings).in_group(*group);
        match store.url() {
            Some(url) => site.with_flag("--store", &url),
            None => site,
        }
    });
    match schedule.topology {
        Topology::Apart => Cluster::apart_at(sites.collect()),
        _ => Cluster::at(sites),
    }
}

/// They come faster than they are let in, and the cap is always reached.
fn policy() -> Policy {
    Policy {
        batch: Some(4),
        active_max: Some(6),
        ..nodes::policy()
    }
}
