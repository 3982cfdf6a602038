//! What goes wrong.

use super::World;
use crate::fleet::{
    network::{Link, Named},
    schedule::{Fault, Millis, NODES, OldMaster, SERVERS, ServerDisk},
    server::Role,
};

/// A server that died is back after this.
const REPLACED: Millis = 1_000;
/// A master that was cut off is made a replica this long after the network is whole again.
const DEMOTED: Millis = 500;

impl World {
    pub(super) fn fault(&mut self, fault: &Fault) {
        let now = self.network.now;
        match fault {
            Fault::Failover { to, lag, old } => self.failover(*to, *lag, old),
            Fault::Restart { server, disk, down } => self.restart(*server, *disk, *down),
            Fault::Flush => self.flush(),
            Fault::Crash { node, disk } => self.crash(*node, *disk),
            Fault::Start { node } => self.start(*node),
            Fault::Stop { node, lasts } => {
                let machine = &mut self.machines[*node];
                machine.stopped_until = machine.stopped_until.max(now + lasts);
            }
            Fault::Isolate { node, lasts } => {
                self.network.links[*node] = (Link::Nobody, now + lasts);
            }
            Fault::SentinelsDown { lasts } => self.network.sentinels_down_until = now + lasts,
        }
    }

    fn failover(&mut self, to: usize, lag: Millis, old: &OldMaster) {
        let network = &mut self.network;
        let (now, from) = (network.now, network.named.server);
        let is_up = now >= network.servers[to].down_until && !network.is_cut_off(to);
        if to == from || !is_up {
            return;
        }
        let had = network.servers[from].as_of(now);
        if let Role::Replica(of) = network.servers[to].role {
            let copied = network.servers[of].as_of(now.saturating_sub(lag));
            network.servers[to].promote(copied);
        } else {
            network.servers[to].role = Role::Master { until: None };
        }
        for server in &mut network.servers {
            if server.role == Role::Replica(from) {
                server.role = Role::Replica(to);
            }
        }
        network.named = Named {
            server: to,
            term: network.named.term + 1,
        };
        self.retire(from, old);
        let network = &mut self.network;
        let has = network.servers[to].room();
        let had = had.as_deref();
        network.checker.lost(to, now, had, has);
    }

    fn retire(&mut self, server: usize, how: &OldMaster) {
        let network = &mut self.network;
        let now = network.now;
        let it = &mut network.servers[server];
        match how {
            OldMaster::Dies => {
                it.restart(now, ServerDisk::Empty);
                it.role = Role::Replica(network.named.server);
                it.down_until = now + REPLACED;
            }
            OldMaster::KeepsWriting { lasts } => {
                let until = Some(now + lasts);
                it.role = Role::Master { until };
            }
            OldMaster::CutOff { with, lasts } => {
                let until = Some(now + lasts + DEMOTED);
                it.role = Role::Master { until };
                for node in (0..NODES).filter(|node| with[*node]) {
                    network.links[node] = (Link::With(server), now + lasts);
                }
            }
        }
    }

    /// Masters that were replaced are made replicas when their time has come.
    pub(super) fn turn_roles(&mut self) {
        let network = &mut self.network;
        for server in 0..SERVERS {
            let due = match network.servers[server].role {
                Role::Master { until } => until.is_some_and(|until| until <= network.now),
                Role::Replica(_) => false,
            };
            if due && network.is_cut_off(server) {
                let until = Some(network.now + DEMOTED);
                network.servers[server].role = Role::Master { until };
            } else if due {
                network.servers[server].role = Role::Replica(network.named.server);
                let now = network.now;
                network
                    .timeline
                    .say(now, || format!("  s{server} is made a replica"));
            }
        }
    }

    fn restart(&mut self, server: usize, disk: ServerDisk, down: Millis) {
        let network = &mut self.network;
        let now = network.now;
        let it = &mut network.servers[server];
        if it.role != (Role::Replica(network.named.server)) {
            let had = it.as_of(now);
            it.restart(now, disk);
            it.down_until = now + down;
            let had = had.as_deref();
            if server == network.named.server {
                network.checker.lost(server, now, had, it.room());
            } else {
                network.checker.lost_aside(server, now);
            }
        }
    }

    fn flush(&mut self) {
        let network = &mut self.network;
        let (now, server) = (network.now, network.named.server);
        let it = &mut network.servers[server];
        if now >= it.down_until {
            let had = it.as_of(now);
            it.replace(now, None);
            let had = had.as_deref();
            network.checker.lost(server, now, had, None);
        }
    }
}
