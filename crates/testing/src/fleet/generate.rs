//! Random histories, each from its seed alone.

use proptest::{
    prelude::Rng as _,
    test_runner::{RngAlgorithm, TestRng},
};

use super::schedule::{
    Event, Fault, Millis, NODES, NodeDisk, OldMaster, SERVERS, Schedule, ServerDisk, Step,
};

/// Steps of the shortest and the longest history.
const STEPS: (u64, u64) = (40, 200);
/// Visitors with one of these last digits never ask again.
const SILENT: [usize; 3] = [2, 5, 8];

impl Schedule {
    /// The history of a seed: the same on every machine.
    pub fn random(seed: u64) -> Self {
        let mut author = Author::of(seed);
        let (shortest, longest) = STEPS;
        for _ in 0..author.between(shortest, longest) {
            author.step();
        }
        let mut steps = author.steps;
        steps.sort_by_key(|step| step.at);
        Self { seed, steps }
    }
}

struct Author {
    rng: TestRng,
    now: Millis,
    visitors: usize,
    steps: Vec<Step>,
}

impl Author {
    fn of(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self {
            rng: TestRng::from_seed(RngAlgorithm::ChaCha, &bytes),
            now: 500,
            visitors: 0,
            steps: Vec::new(),
        }
    }

    fn step(&mut self) {
        self.now += match self.below(200) {
            0 => 65_000,
            1..=4 => self.pick(&[1_000, 2_500, 4_000, 12_000]),
            _ => self.pick(&[0, 10, 40, 80, 150]),
        };
        let node = self.node();
        let event = match self.below(1_000) {
            0..60 => return self.faults(),
            60..64 => Event::Delete { node },
            64..70 => Event::Create { node },
            70..400 => self.join(node),
            400..800 => self.of_someone(|visitor| Event::Poll { visitor, node }),
            800..880 => self.of_someone(|visitor| Event::Leave { visitor, node }),
            _ => self.of_someone(|visitor| Event::Enter { visitor, node }),
        };
        self.add(self.now, event);
    }

    fn join(&mut self, node: usize) -> Event {
        // Some come again whose answer was lost; those who have a token already do nothing.
        let again = self.visitors > 3 && self.below(8) == 0;
        let visitor = if again {
            self.visitors - 1 - self.index(3)
        } else {
            self.visitors += 1;
            self.visitors - 1
        };
        let answer_delay = match self.below(8) {
            0 => self.pick(&[60, 300, 700, 1_500, 3_000]),
            _ => 0,
        };
        Event::Join {
            visitor,
            node,
            answer_delay,
        }
    }

    /// One of those who came so far, and who asks again at all; lately arrived ones more often.
    fn of_someone(&mut self, event: impl FnOnce(usize) -> Event) -> Event {
        let all = self.visitors.max(1);
        let newest = all.min(12);
        let back = if self.below(2) == 0 { all } else { newest };
        let visitor = all - 1 - self.index(back);
        let asks = !SILENT.contains(&(visitor % 10));
        event(if asks { visitor } else { visitor / 10 * 10 })
    }

    /// Faults seldom come alone.
    fn faults(&mut self) {
        let mut at = self.now;
        loop {
            self.fault(at);
            if self.below(5) < 2 {
                return;
            }
            at += self.pick(&[0, 50, 200, 600, 1_500]);
        }
    }

    fn fault(&mut self, at: Millis) {
        let node = self.node();
        let fault = match self.below(100) {
            0..36 => self.failover(),
            36..48 => self.restart(),
            48..56 => Fault::Flush,
            56..76 => {
                let start_at = at + self.pick(&[100, 400, 1_000, 3_000, 8_000]);
                self.add(start_at, Event::Fault(Fault::Start { node }));
                let disk = match self.below(8) {
                    0 => NodeDisk::Lost,
                    1 => NodeDisk::Damaged,
                    _ => NodeDisk::Kept,
                };
                Fault::Crash { node, disk }
            }
            76..90 => Fault::Stop {
                node,
                lasts: self.pick(&[300, 1_500, 4_000, 8_000]),
            },
            90..96 => Fault::Isolate {
                node,
                lasts: self.pick(&[300, 1_500, 4_000, 8_000]),
            },
            _ => Fault::SentinelsDown {
                lasts: self.pick(&[500, 3_000]),
            },
        };
        self.add(at, Event::Fault(fault));
    }

    fn failover(&mut self) -> Fault {
        let old = match self.below(10) {
            0..3 => OldMaster::Dies,
            3..7 => OldMaster::KeepsWriting {
                lasts: self.pick(&[400, 1_000, 4_000, 9_000]),
            },
            _ => OldMaster::CutOff {
                with: std::array::from_fn(|_| self.below(5) < 2),
                lasts: self.pick(&[500, 2_000, 5_000, 8_000]),
            },
        };
        Fault::Failover {
            to: self.index(SERVERS),
            lag: self.pick(&[0, 0, 100, 300, 1_000]),
            old,
        }
    }

    fn restart(&mut self) -> Fault {
        let disk = match self.below(5) {
            0..3 => ServerDisk::Empty,
            _ => ServerDisk::Older(self.pick(&[0, 500, 1_000])),
        };
        Fault::Restart {
            server: self.index(SERVERS),
            disk,
            down: self.pick(&[0, 100, 1_000]),
        }
    }

    fn add(&mut self, at: Millis, event: Event) {
        self.steps.push(Step { at, event });
    }

    fn node(&mut self) -> usize {
        self.index(NODES)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.rng.next_u64() % end
    }

    fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).expect("an index below a count")
    }

    fn pick(&mut self, choices: &[Millis]) -> Millis {
        choices[self.index(choices.len())]
    }
}
