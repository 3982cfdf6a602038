//! A history as it is played: time, and who acts when.

mod clients;
mod end;
mod faults;
mod joins;
mod machine;

use std::collections::BTreeSet;

use ropeline_core::{Bounds, Room, ServerId};

use self::{clients::Client, joins::Pending, machine::Machine};
use super::{
    Trial,
    checker::{Checker, Excuses, Violation},
    network::{Network, clock},
    policy,
    schedule::{Event, Millis, NODES, Schedule, Step},
    server::Role,
    timeline::Timeline,
};

/// The shortest and the longest pause between two looks of a node at the store.
const TICK: (Millis, Millis) = (150, 250);

#[derive(Debug)]
pub(super) struct World {
    seed: u64,
    network: Network,
    machines: [Machine; NODES],
    clients: Vec<Option<Client>>,
    pending: Vec<Pending>,
}

/// What came of a history.
#[derive(Debug)]
pub struct Played {
    /// The first promise that was broken.
    pub broken: Option<Violation>,
    /// The excuses that were made.
    pub excuses: Excuses,
    /// Places that were acknowledged.
    pub places: u64,
    /// In words, if they were wanted.
    pub timeline: Timeline,
}

impl World {
    pub(super) fn new(schedule: &Schedule, trial: &Trial, timeline: Timeline) -> Self {
        let visitors = schedule.visitors() + NODES;
        let cap = usize::try_from(super::CAP).expect("a small cap");
        let mut world = Self {
            seed: schedule.seed,
            network: Network::new(Checker::new(&trial.watched, cap, visitors), timeline),
            machines: std::array::from_fn(|number| Machine::new(number, trial.rule)),
            clients: (0..visitors).map(|_| None).collect(),
            pending: Vec::new(),
        };
        world.begin();
        world
    }

    /// An empty room that all nodes know.
    fn begin(&mut self) {
        let server = &mut self.network.servers[0];
        let host = ServerId(server.run_id().into());
        let mut saved = Room::new(policy(), host, clock(0), Bounds::default()).saved();
        saved.header.term = self.network.named.term;
        let room = Room::load(saved, Bounds::default()).expect("a room that was saved");
        server.replace(0, Some(room));
        for node in 0..NODES {
            self.start(node);
        }
    }

    pub(super) fn play(mut self, steps: &[Step]) -> Played {
        for step in steps {
            self.run_until(step.at);
            if self.is_over() {
                break;
            }
            self.act(&step.event);
        }
        if !self.is_over() {
            self.end();
        }
        self.played()
    }

    fn played(self) -> Played {
        let Network {
            checker,
            mut timeline,
            now,
            ..
        } = self.network;
        if let Some(broken) = &checker.broken {
            timeline.say(now, || format!("BROKEN: {broken}"));
        }
        Played {
            broken: checker.broken,
            excuses: checker.excuses,
            places: self.clients.iter().flatten().count() as u64,
            timeline,
        }
    }

    fn is_over(&self) -> bool {
        self.network.checker.broken.is_some()
    }

    /// Lets time pass, and everything happen that is due by then.
    fn run_until(&mut self, end: Millis) {
        while let Some(at) = self.next_due().filter(|at| *at <= end) {
            self.network.now = self.network.now.max(at);
            self.turn_roles();
            self.note_available();
            self.run_machines();
            self.run_pending();
            if self.is_over() {
                return;
            }
        }
        self.network.now = self.network.now.max(end);
    }

    fn next_due(&self) -> Option<Millis> {
        let now = self.network.now;
        let ticks = self.machines.iter().filter_map(Machine::next_tick);
        let pending = self.pending.iter().map(|pending| pending.due);
        let timers = self.timers().filter(|at| *at > now);
        ticks.chain(pending).chain(timers).min()
    }

    /// When something ends by itself that has gone wrong.
    fn timers(&self) -> impl Iterator<Item = Millis> + '_ {
        let network = &self.network;
        let roles = network
            .servers
            .iter()
            .filter_map(|server| match server.role {
                Role::Master { until } => until,
                Role::Replica(_) => None,
            });
        let downs = network.servers.iter().map(|server| server.down_until);
        let links = network.links.iter().map(|(_, until)| *until);
        let stops = self.machines.iter().map(|machine| machine.stopped_until);
        let sentinels = std::iter::once(network.sentinels_down_until);
        roles
            .chain(downs)
            .chain(links)
            .chain(stops)
            .chain(sentinels)
    }

    fn run_machines(&mut self) {
        for node in 0..NODES {
            let due = self.machines[node].next_tick();
            if due.is_some_and(|due| due <= self.network.now) {
                self.tick(node);
                self.check_cap();
            }
        }
    }

    fn act(&mut self, event: &Event) {
        let now = self.network.now;
        self.network.timeline.say(now, || event.to_string());
        match event {
            Event::Join {
                visitor,
                node,
                answer_delay,
            } => self.ask_to_join(*visitor, *node, *answer_delay),
            Event::Poll { visitor, node } => self.poll(*visitor, *node),
            Event::Leave { visitor, node } => self.leave(*visitor, *node),
            Event::Enter { visitor, node } => self.enter(*visitor, *node),
            Event::Delete { node } => self.delete(*node),
            Event::Create { node } => self.create(*node),
            Event::Fault(fault) => self.fault(fault),
        }
        self.note_available();
        self.check_cap();
    }

    /// Notes which nodes reach both master and Sentinels.
    fn note_available(&mut self) {
        let network = &mut self.network;
        for node in 0..NODES {
            let master = network.named.server;
            let named = network.ask_sentinels(node).is_some();
            let reaches = named && network.reaches(node, master);
            let available = reaches && self.machines[node].runs(network.now);
            let lives = network.checker.lives();
            lives.set_available(node, available.then_some(master), network.now);
        }
    }

    fn check_cap(&mut self) {
        if !self.network.checker.cap_is_due {
            return;
        }
        let in_use = self.machines.iter().filter(|it| it.runs(self.network.now));
        let in_use = in_use.filter_map(|it| it.logic.gate_server(&self.network));
        let in_use: BTreeSet<_> = in_use.collect();
        let Network {
            servers,
            checker,
            now,
            ..
        } = &mut self.network;
        let rooms: Vec<_> = in_use.iter().filter_map(|at| servers[*at].room()).collect();
        checker.check_cap(&rooms, *now);
    }
}
