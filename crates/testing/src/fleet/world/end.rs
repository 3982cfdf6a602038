//! The end of a history: faults stop, and everybody is asked for.

use super::World;
use crate::fleet::{
    network::Link,
    schedule::{Millis, NODES, SERVERS},
    server::Role,
};

/// Within this the nodes must have come to terms.
const CALM: Millis = 4_000;
/// And then nothing may happen for this long.
const QUIET: Millis = 3_000;
/// A join at the end is answered within this.
const JOIN: Millis = 4_500;
/// Lost places have been waited for after this, and passes have run out.
const GRACE: Millis = 70_000;

impl World {
    pub(super) fn end(&mut self) {
        let now = self.network.now;
        self.network.timeline.say(now, || "faults stop");
        self.stop_faults();
        let stages = [
            Self::come_to_terms,
            Self::join_everywhere,
            Self::ask_everybody,
            Self::compare_nodes,
            Self::wait_for_the_lost,
        ];
        for stage in stages {
            if self.is_over() {
                return;
            }
            stage(self);
        }
    }

    fn stop_faults(&mut self) {
        let now = self.network.now;
        let network = &mut self.network;
        network.links = [(Link::Whole, now); NODES];
        network.sentinels_down_until = now;
        for server in 0..SERVERS {
            let it = &mut network.servers[server];
            it.down_until = now;
            if server != network.named.server {
                it.role = Role::Replica(network.named.server);
            }
        }
        for node in 0..NODES {
            self.machines[node].stopped_until = now;
            self.start(node);
        }
        self.note_available();
    }

    fn come_to_terms(&mut self) {
        self.run_until(self.network.now + CALM);
        let quiet_since = self.network.now;
        self.run_until(quiet_since + QUIET);
        let checker = &mut self.network.checker;
        checker.check_livelock(quiet_since);
        let master = self.network.named.server;
        let room = self.network.servers[master].room();
        checker.check_retold(room, self.network.now);
    }

    fn join_everywhere(&mut self) {
        self.create(0);
        let first = self.clients.len() - NODES;
        for node in 0..NODES {
            self.ask_to_join(first + node, node, 0);
        }
        self.run_until(self.network.now + JOIN);
        let refused: Vec<_> = (0..NODES)
            .filter(|node| self.clients[first + node].is_none())
            .collect();
        self.network.checker.check_joins(&refused);
    }

    fn ask_everybody(&mut self) {
        for round in 0..2 {
            for visitor in 0..self.clients.len() {
                self.poll(visitor, (visitor + round) % NODES);
            }
        }
        let Some(room) = self.network.servers[self.network.named.server].room() else {
            return;
        };
        self.network.checker.check_everybody(room);
    }

    fn compare_nodes(&mut self) {
        for node in (0..NODES).chain(0..NODES) {
            self.tick(node);
        }
        let views: Vec<_> = self.machines.iter().map(|it| it.logic.view()).collect();
        let network = &mut self.network;
        if let Some(room) = network.servers[network.named.server].room() {
            network.checker.check_agreement(&views, room);
        }
    }

    fn wait_for_the_lost(&mut self) {
        self.pause_ticks(GRACE);
        for node in (0..NODES).chain(0..NODES) {
            self.tick(node);
        }
        let network = &mut self.network;
        if let Some(room) = network.servers[network.named.server].room() {
            network.checker.check_admission(room, network.now);
        }
    }
}
