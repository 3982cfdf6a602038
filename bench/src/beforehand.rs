//! The opponents beside what was measured of them beforehand, on another machine: a weak one would prove nothing.

use crate::report::{self, Table};

/// What the bare axum server answered there in a second: the two machines are compared by it.
const HELLO: f64 = 95_000.0;
/// So far off is as good as equal.
const TOLERATED: f64 = 0.20;

/// What is known from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Hello,
    Join,
    JoinTogether,
    JoinByKeysFew,
    JoinByKeysMany,
    Status,
    TickOneByOne,
    TickPipelined,
    Pop,
    Rank,
    Add,
    Script,
}

/// A figure of this run: answers per second, or milliseconds of a tick.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    what: What,
    figure: f64,
}

impl Found {
    pub(crate) fn new(what: What, figure: f64) -> Self {
        Self { what, figure }
    }
}

/// A figure from there, of which the smaller and the larger are the same where there was but one.
struct Known {
    what: What,
    name: &'static str,
    figure: Figure,
    made_of: MadeOf,
}

/// What an opponent consists of, which may be the reason why it is weaker here.
#[derive(Clone, Copy)]
enum MadeOf {
    /// Redis and its own client, with no code of ours.
    RedisAlone,
    /// Our code and Redis; how strong that is for it shows by this figure of its own.
    OursAndRedis(What),
}

enum Figure {
    /// Smallest and largest.
    TimesHello(f64, f64),
    PerSecond(f64),
    Millis(f64),
}

const KNOWN: [Known; 11] = [
    Known {
        what: What::Join,
        name: "join, counter",
        figure: Figure::TimesHello(0.31, 0.31),
        made_of: MadeOf::OursAndRedis(What::Rank),
    },
    Known {
        what: What::JoinTogether,
        name: "join, many by one script",
        figure: Figure::TimesHello(0.51, 0.55),
        made_of: MadeOf::OursAndRedis(What::Rank),
    },
    Known {
        what: What::JoinByKeysFew,
        name: "join, `KEYS`, 200 inside",
        figure: Figure::PerSecond(3_600.0),
        made_of: MadeOf::OursAndRedis(What::Rank),
    },
    Known {
        what: What::JoinByKeysMany,
        name: "join, `KEYS`, 3,333 inside",
        figure: Figure::PerSecond(639.0),
        made_of: MadeOf::OursAndRedis(What::Rank),
    },
    Known {
        what: What::Status,
        name: "status, `EXISTS` then `ZRANK`",
        figure: Figure::TimesHello(0.50, 0.61),
        made_of: MadeOf::OursAndRedis(What::Rank),
    },
    Known {
        what: What::TickOneByOne,
        name: "tick of 3,333, one by one",
        figure: Figure::Millis(647.0),
        made_of: MadeOf::OursAndRedis(What::Pop),
    },
    Known {
        what: What::TickPipelined,
        name: "tick of 3,333, pipelined",
        figure: Figure::Millis(17.0),
        made_of: MadeOf::OursAndRedis(What::Pop),
    },
    Known {
        what: What::Pop,
        name: "`ZPOPMIN` of 3,333",
        figure: Figure::Millis(4.4),
        made_of: MadeOf::RedisAlone,
    },
    Known {
        what: What::Rank,
        name: "`redis-benchmark`, `ZRANK`",
        figure: Figure::PerSecond(341_000.0),
        made_of: MadeOf::RedisAlone,
    },
    Known {
        what: What::Add,
        name: "`redis-benchmark`, `ZADD`",
        figure: Figure::PerSecond(209_000.0),
        made_of: MadeOf::RedisAlone,
    },
    Known {
        what: What::Script,
        name: "`redis-benchmark`, join script",
        figure: Figure::PerSecond(85_000.0),
        made_of: MadeOf::RedisAlone,
    },
];

pub(crate) fn table(found: &[Found]) -> Table {
    let of = |what| found.iter().find(|found| found.what == what);
    let hello = of(What::Hello).map_or(HELLO, |found| found.figure);
    let strength_of = |known: &Known| Some(known.strength(of(known.what)?.figure, hello));
    let redis_by = |what| {
        let mut by = KNOWN.iter().filter(|known| known.what == what);
        by.find_map(strength_of).unwrap_or(1.0)
    };
    let rows = KNOWN.iter().filter_map(|known| {
        let found = of(known.what)?;
        Some(known.row(found.figure, hello, redis_by))
    });
    Table {
        title: "The opponents beside what was measured beforehand".to_owned(),
        note: format!(
            "The figures on the left are from another machine with two cores, where hello answered {} requests a second and\n\
             its answer had 120 bytes. Here it answers {}, with 800 bytes. So the two are compared by what each is beside the\n\
             hello of its own machine; a tick by how many requests hello answers meanwhile. Less than {:.0} % apart is the same.",
            report::rate(HELLO),
            report::rate(hello),
            TOLERATED * 100.0
        ),
        columns: vec![
            "opponent",
            "there",
            "here",
            "× hello there",
            "× hello here",
            "strength",
            "verdict",
        ],
        rows: rows.collect(),
    }
}

impl Known {
    fn row(&self, here: f64, hello: f64, redis_by: impl Fn(What) -> f64) -> Vec<String> {
        let (low, high) = self.figure.beside_hello();
        let shown = match self.figure {
            Figure::Millis(_) => format!("{} ms", report::short(here)),
            _ => format!("{}/s", report::rate(here)),
        };
        let strength = self.strength(here, hello);
        vec![
            self.name.to_owned(),
            self.figure.to_string(),
            shown,
            range(low, high),
            tiny(self.beside(here, hello)),
            report::ratio(strength),
            self.verdict(strength, redis_by),
        ]
    }

    fn beside(&self, here: f64, hello: f64) -> f64 {
        match self.figure {
            Figure::Millis(_) => 1e3 / here / hello,
            Figure::TimesHello(..) | Figure::PerSecond(_) => here / hello,
        }
    }

    /// Against the nearer end of what was measured there; one in between is as strong.
    fn strength(&self, here: f64, hello: f64) -> f64 {
        let (low, high) = self.figure.beside_hello();
        let here = self.beside(here, hello);
        here / here.clamp(low, high)
    }

    /// `redis_by` is how strong Redis itself is here, by one of its own figures.
    fn verdict(&self, strength: f64, redis_by: impl Fn(What) -> f64) -> String {
        if strength > 1.0 + TOLERATED {
            return "stronger".to_owned();
        } else if strength >= 1.0 - TOLERATED {
            return "the same".to_owned();
        }
        match self.made_of {
            MadeOf::RedisAlone => {
                "weaker: Redis and its own client alone, so it is the machine".to_owned()
            }
            MadeOf::OursAndRedis(by) if strength >= redis_by(by) * (1.0 - TOLERATED) => {
                let redis = report::ratio(redis_by(by));
                format!("weaker: it waits for Redis, which is at {redis} of what it was there")
            }
            MadeOf::OursAndRedis(_) => "weaker, and no reason is known".to_owned(),
        }
    }
}

impl Figure {
    /// Smallest and largest; of a tick, how many there are in the time of one request.
    fn beside_hello(&self) -> (f64, f64) {
        match *self {
            Self::TimesHello(low, high) => (low, high),
            Self::PerSecond(rate) => (rate / HELLO, rate / HELLO),
            Self::Millis(millis) => (1e3 / millis / HELLO, 1e3 / millis / HELLO),
        }
    }
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::TimesHello(low, high) => write!(f, "{} × hello", range(low, high)),
            Self::PerSecond(rate) => write!(f, "{}/s", report::rate(rate)),
            Self::Millis(millis) => write!(f, "{} ms", report::short(millis)),
        }
    }
}

fn range(low: f64, high: f64) -> String {
    if high > low {
        format!("{}..{}", tiny(low), tiny(high))
    } else {
        tiny(low)
    }
}

/// Two digits that matter, however small.
fn tiny(value: f64) -> String {
    if value >= 0.1 {
        report::ratio(value)
    } else if value >= 0.001 {
        format!("{value:.4}")
    } else {
        format!("{value:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(what: What, figure: f64, hello: f64) -> String {
        let found = [Found::new(What::Hello, hello), Found::new(what, figure)];
        let mut rows = table(&found).rows;
        assert_eq!(rows.len(), 1);
        rows.remove(0).pop().expect("the verdict is the last")
    }

    #[test]
    fn a_slow_redis_is_a_reason_and_nothing_else_is() {
        let weak = Found::new(What::JoinByKeysMany, 320.0);
        let hello = Found::new(What::Hello, 95_000.0);
        let verdict = |found: &[Found]| table(found).rows[0].last().cloned();
        let slow = [hello, weak, Found::new(What::Rank, 170_000.0)];
        let told = "weaker: it waits for Redis, which is at 0.50 of what it was there";
        assert_eq!(verdict(&slow).as_deref(), Some(told));
        let fast = [hello, weak, Found::new(What::Rank, 341_000.0)];
        assert_eq!(
            verdict(&fast).as_deref(),
            Some("weaker, and no reason is known")
        );
    }

    #[test]
    fn a_tick_waits_for_redis_to_take_people_out_of_the_line() {
        let hello = Found::new(What::Hello, 95_000.0);
        let tick = Found::new(What::TickPipelined, 25.0);
        let rank = Found::new(What::Rank, 341_000.0);
        let verdict = |pop| {
            let found = [hello, tick, rank, Found::new(What::Pop, pop)];
            table(&found).rows[0].last().cloned()
        };
        let told = "weaker: it waits for Redis, which is at 0.61 of what it was there";
        assert_eq!(verdict(7.2).as_deref(), Some(told));
        let unknown = "weaker, and no reason is known";
        assert_eq!(verdict(4.4).as_deref(), Some(unknown));
    }

    #[test]
    fn machines_are_compared_by_hello() {
        assert_eq!(verdict(What::Rank, 341_000.0, 95_000.0), "the same");
        assert_eq!(verdict(What::Rank, 341_000.0, 60_000.0), "stronger");
        assert!(verdict(What::Rank, 170_500.0, 95_000.0).starts_with("weaker"));
        assert_eq!(verdict(What::Rank, 170_500.0, 47_500.0), "the same");
    }

    #[test]
    fn a_tick_is_the_stronger_the_shorter_it_is() {
        assert_eq!(verdict(What::TickPipelined, 17.0, 95_000.0), "the same");
        assert_eq!(verdict(What::TickPipelined, 8.0, 95_000.0), "stronger");
        assert!(verdict(What::TickPipelined, 30.0, 95_000.0).starts_with("weaker"));
    }

    #[test]
    fn between_two_figures_nothing_is_stronger_or_weaker() {
        assert_eq!(verdict(What::Status, 55_000.0, 100_000.0), "the same");
        assert_eq!(verdict(What::Status, 74_000.0, 100_000.0), "stronger");
        assert!(verdict(What::Status, 39_000.0, 100_000.0).starts_with("weaker"));
    }
}
