//! Brings faults about and ends them.

use std::{
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic::AtomicBool},
    thread,
    time::Duration,
};

use ropeline_testing::{
    Persistence,
    history::{At, Kind, Target},
};

use super::{
    fault::{Fault, others},
    records::Records,
    schedule::{Planned, Schedule},
    store::{Handover, Store},
    watch::watch,
};
use crate::nodes::cluster::Cluster;

/// After a fault of the store, nodes have found it again by then and the line moves.
const FOUND_AGAIN: Duration = Duration::from_secs(2);
/// A failover that has not happened by then does not happen.
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(8);
/// The others know by then that a server which was started again is the master.
const KNOWN_WITHIN: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(50);

/// Whatever faults are brought about on.
pub(super) struct Nemesis<'a> {
    pub(super) store: &'a RwLock<Store>,
    pub(super) nodes: &'a Cluster,
    /// The Unix group of each node.
    pub(super) groups: &'a [u32],
    pub(super) records: &'a Records<'a>,
    pub(super) persistence: Persistence,
}

impl Nemesis<'_> {
    /// Goes through a schedule; returns when everything is well again.
    pub(super) fn play(&self, schedule: &Schedule) {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| watch(self.store, self.records, &is_over));
            let strikes = schedule.faults.iter();
            let strikes: Vec<_> = strikes
                .map(|planned| scope.spawn(move || self.strike(planned)))
                .collect();
            for strike in strikes {
                strike.join().expect("a fault goes as planned");
            }
            let store = read(self.store);
            store.forgive();
            store.wait_whole();
            self.records.tell("all is well again");
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }

    fn strike(&self, planned: &Planned) {
        let Planned { begins, fault, .. } = *planned;
        thread::sleep(begins.saturating_sub(self.records.now()));
        self.records.tell(format!("begins: {fault}"));
        match fault {
            Fault::KillNode { node } => self.restart_node(node, planned, || {}),
            Fault::LoseNode { node } => {
                self.records.during(Kind::Emptied, Target::Node(node), || {
                    self.restart_node(node, planned, || self.nodes.lose_data(node));
                });
            }
            Fault::FreezeNode { node } => self.freeze_node(node, planned),
            Fault::FreezeOthers { node } => thread::scope(|scope| {
                for other in others(node) {
                    scope.spawn(move || self.freeze_node(other, planned));
                }
            }),
            Fault::Reboot { node } => self.reboot(node, planned),
            Fault::Partition { node } => self.cut_off(node, planned),
            _ => {
                let disturb = |master| self.strike_master(master, planned);
                self.disturbed(|| self.on_master(disturb));
            }
        }
        self.records.tell(format!("ends: {fault}"));
    }

    /// Does something to the master, if there is one.
    fn on_master(&self, what: impl FnOnce(usize)) {
        let master = read(self.store).master();
        match master {
            Some(master) => what(master),
            None => self.records.tell("there is no master"),
        }
    }

    /// Nodes may not reach the store until some time after this.
    fn disturbed<T>(&self, what: impl FnOnce() -> T) -> T {
        self.records.during(Kind::Stopped, Target::Store, || {
            let result = what();
            thread::sleep(FOUND_AGAIN);
            result
        })
    }

    /// Once another one has taken over, the others have their store, and whatever the master does that was cut off is
    /// its own fault.
    fn cut_off(&self, node: usize, planned: &Planned) {
        let cut_off = |master: usize| {
            let until = planned.ends();
            let cut = self.disturbed(|| {
                let cut = read(self.store).cut_off(master, node, self.groups);
                self.await_master(until, |now| now != master);
                cut
            });
            thread::sleep(until.saturating_sub(self.records.now()));
            self.disturbed(|| drop(cut));
        };
        let records = self.records;
        records.during(Kind::CutOff, Target::Node(node), || self.on_master(cut_off));
    }

    fn restart_node(&self, node: usize, planned: &Planned, meanwhile: impl FnOnce()) {
        self.records.during(Kind::Killed, Target::Node(node), || {
            self.nodes.end(node);
            meanwhile();
            thread::sleep(planned.lasts);
            self.nodes.start(node);
        });
    }

    fn reboot(&self, node: usize, planned: &Planned) {
        let restart = || {
            self.nodes.end(node);
            self.on_master(|master| self.restart_master(master, planned.lasts));
            self.nodes.start(node);
        };
        let records = self.records;
        self.disturbed(|| records.during(Kind::Killed, Target::Node(node), restart));
    }

    fn freeze_node(&self, node: usize, planned: &Planned) {
        self.records.during(Kind::Stopped, Target::Node(node), || {
            self.nodes.freeze(node);
            thread::sleep(planned.lasts);
            self.nodes.thaw(node);
        });
    }

    fn strike_master(&self, master: usize, planned: &Planned) {
        let lasts = planned.lasts;
        match planned.fault {
            Fault::KillMaster => self.restart_master(master, lasts),
            Fault::EmptyMaster => self.restart_empty(master, lasts),
            Fault::FreezeMaster => {
                read(self.store).servers().freeze(master);
                thread::sleep(lasts);
                read(self.store).servers().thaw(master);
            }
            Fault::FlushAll => self.flush(master),
            Fault::FlushFunctions => {
                self.command(master, &["FUNCTION", "FLUSH"]);
            }
            Fault::FailOver => self.fail_over(master, Handover::Any),
            Fault::FailOverAndBack => self.fail_over_and_back(master, lasts),
            Fault::OutOfMemory => {
                self.command(master, &["CONFIG", "SET", "maxmemory", "1"]);
                thread::sleep(lasts);
                self.command(master, &["CONFIG", "SET", "maxmemory", "0"]);
            }
            Fault::MoveClock { seconds } => {
                self.records.during(Kind::ClockAhead, Target::Store, || {
                    read(self.store).servers().shift_clock(master, seconds);
                    thread::sleep(lasts);
                    read(self.store).servers().shift_clock(master, 0);
                });
            }
            _ => unreachable!("it takes more than the master"),
        }
    }

    /// Kills the master and starts it with what it has written down.
    fn restart_master(&self, master: usize, lasts: Duration) {
        if self.persistence == Persistence::None {
            return self.restart_empty(master, lasts);
        }
        write(self.store).servers_mut().kill(master);
        thread::sleep(lasts);
        write(self.store).servers_mut().start_again(master);
    }

    fn restart_empty(&self, master: usize, lasts: Duration) {
        write(self.store).servers_mut().kill(master);
        thread::sleep(lasts);
        let mut store = write(self.store);
        let since = self.records.now();
        let is_master = store.master().is_none_or(|it| it == master);
        store.servers().forget(master);
        store.servers_mut().start_again(master);
        drop(store);
        // Where another one has taken over, it is that one's replica now; but one that was cut off may only have said so.
        let is_known_by = self.records.now() + KNOWN_WITHIN;
        if is_master || self.await_master(is_known_by, |now| now == master) {
            self.records.forgot(Kind::Emptied, since);
        }
    }

    fn flush(&self, master: usize) {
        let since = self.records.now();
        if self.command(master, &["FLUSHALL"]) {
            self.records.forgot(Kind::Emptied, since);
        }
    }

    /// Sends a command to a server; `false` if that does not take it.
    fn command(&self, server: usize, command: &[&str]) -> bool {
        let answer = read(self.store).servers().ask(server, command);
        let done = answer.as_deref() == Some("OK");
        if !done {
            self.records.tell(format!("{command:?}: {answer:?}"));
        }
        done
    }

    fn fail_over(&self, master: usize, how: Handover) {
        let store = read(self.store);
        let Some(replica) = store.replica_of(master) else {
            self.records.tell("nobody can take over");
            return;
        };
        let answer = store.fail_over(master, replica, how);
        drop(store);
        self.await_takeover(&answer, |now| now != master);
    }

    /// While nothing reaches the master, another one takes over; then it is the master again with what it had.
    fn fail_over_and_back(&self, master: usize, lasts: Duration) {
        let Some(replica) = read(self.store).replica_of(master) else {
            self.records.tell("nobody can take over");
            return;
        };
        let cut = read(self.store).cut_replication(master);
        let answer = read(self.store).fail_over(master, replica, Handover::Only);
        if self.await_takeover(&answer, |now| now == replica) {
            thread::sleep(lasts);
            let answer = read(self.store).fail_over(replica, master, Handover::Only);
            self.await_takeover(&answer, |now| now == master);
        }
        read(self.store).forgive();
        drop(cut);
    }

    fn await_takeover(&self, answer: &str, is_new: impl Fn(usize) -> bool) -> bool {
        if answer != "OK" {
            self.records.tell(format!("failover: {answer}"));
            return false;
        }
        let taken_over = self.await_master(self.records.now() + TAKEN_OVER_WITHIN, is_new);
        if !taken_over {
            self.records.tell("nobody has taken over");
        }
        taken_over
    }

    /// Waits for another master, but not beyond a moment.
    fn await_master(&self, until: At, is_new: impl Fn(usize) -> bool) -> bool {
        while self.records.now() < until {
            if read(self.store).master().is_some_and(&is_new) {
                return true;
            }
            thread::sleep(LOOK);
        }
        false
    }
}

pub(super) fn read(store: &RwLock<Store>) -> RwLockReadGuard<'_, Store> {
    store.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(store: &RwLock<Store>) -> RwLockWriteGuard<'_, Store> {
    store.write().unwrap_or_else(PoisonError::into_inner)
}
