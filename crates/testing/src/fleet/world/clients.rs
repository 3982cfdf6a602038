//! Visitors with a token, and operators.

use ropeline_core::{Holder, Timestamp};

use super::World;
use crate::fleet::node::{Asking, Shown};

/// What a visitor keeps.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) holder: Holder,
    pub(super) epoch: Timestamp,
    pub(super) version: u64,
    pub(super) ahead: Option<u64>,
}

impl Client {
    fn asking(&self) -> Asking {
        Asking {
            holder: self.holder.clone(),
            epoch: self.epoch,
            version: self.version,
            ahead: self.ahead,
        }
    }

    fn shown(&mut self, shown: Shown) {
        let (ahead, version) = match shown {
            Shown::InLine { ahead, version } => (ahead, version),
            Shown::AtDoor { version } | Shown::Inside { version } => (0, version),
            Shown::Ended(_) | Shown::Void | Shown::Nothing => return,
        };
        self.version = self.version.max(version);
        self.ahead = Some(ahead);
    }
}

impl World {
    pub(super) fn poll(&mut self, visitor: usize, node: usize) {
        let Some((asking, now)) = self.asking(visitor, node) else {
            return;
        };
        let (logic, network) = (&mut self.machines[node].logic, &mut self.network);
        let was_there = network.master_has(&asking.holder);
        let shown = logic.poll(&asking, network);
        let as_of = logic.as_of();
        network.timeline.say(now, || {
            format!(
                "  v{visitor} with {} is shown {shown:?}",
                asking.holder.ordinal
            )
        });
        let server = network.named.server;
        let put_back = !was_there && network.master_has(&asking.holder);
        let who = (visitor, node);
        let from = (server, put_back);
        network.checker.shown(who, (shown, as_of), from, now);
        if let Some(client) = &mut self.clients[visitor] {
            client.shown(shown);
        }
    }

    pub(super) fn leave(&mut self, visitor: usize, node: usize) {
        let Some((asking, now)) = self.asking(visitor, node) else {
            return;
        };
        let (logic, network) = (&mut self.machines[node].logic, &mut self.network);
        let Some(version) = logic.leave(&asking, network) else {
            return;
        };
        network.checker.left(visitor, node, now);
        network.timeline.say(now, || {
            format!("  v{visitor} has left {}", asking.holder.ordinal)
        });
        if let Some(client) = &mut self.clients[visitor] {
            client.version = client.version.max(version);
        }
    }

    pub(super) fn enter(&mut self, visitor: usize, node: usize) {
        let Some((asking, now)) = self.asking(visitor, node) else {
            return;
        };
        let (logic, network) = (&mut self.machines[node].logic, &mut self.network);
        if logic.enter(&asking, network) {
            network
                .timeline
                .say(now, || format!("  the gate opens for v{visitor}"));
            let server = network.named.server;
            network.checker.entered(visitor, server, now);
        }
    }

    pub(super) fn delete(&mut self, node: usize) {
        let (machine, network) = (&mut self.machines[node], &mut self.network);
        if !machine.runs(network.now) {
            return;
        }
        if let Some(epoch) = machine.logic.delete(network) {
            network.checker.deleted(epoch, node, network.now);
        }
    }

    pub(super) fn create(&mut self, node: usize) {
        let (machine, network) = (&mut self.machines[node], &mut self.network);
        if machine.runs(network.now) {
            machine.logic.create(network);
        }
    }

    /// What a visitor with a token sends to a node that runs.
    fn asking(&self, visitor: usize, node: usize) -> Option<(Asking, u64)> {
        let now = self.network.now;
        let client = self.clients[visitor].as_ref()?;
        let runs = self.machines[node].runs(now);
        runs.then(|| (client.asking(), now))
    }
}
