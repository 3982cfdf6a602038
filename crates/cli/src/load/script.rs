//! What each visitor has in mind before coming.

use std::time::Duration;

use super::{chance::Chance, options::CrowdArgs};

/// So much of a crowd comes in the first third of the time: an on-sale hour has a spike.
const EARLY_SHARE: f64 = 2.0 / 3.0;

/// A visitor's intentions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Script {
    /// From the start of the run.
    pub(crate) arrives: Duration,
    pub(crate) patience: Patience,
    pub(crate) inside: Inside,
    pub(crate) stay: Duration,
}

/// What happens while waiting; `at` is a part of the least wait that was told at first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Patience {
    /// Waits until the turn comes.
    Waits,
    /// Gives up the place.
    Leaves { at: f64 },
    /// Closes the tab, and perhaps comes back after a while.
    Closes { at: f64, back: Option<Duration> },
}

/// What happens inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    /// Asks for a few pages and pays.
    Buys,
    /// Looks around and goes.
    Looks,
    /// Buys a seat at the box office.
    BuysSeat,
    /// Falls asleep until the pass has run out, where passes are short.
    Idles,
}

impl Script {
    /// One visitor of the crowd that was asked for.
    pub(crate) fn draw(args: &CrowdArgs, chance: &mut Chance) -> Self {
        Self {
            arrives: args.arrive.mul_f64(arrival(chance)),
            patience: patience(args, chance),
            inside: inside(args, chance),
            stay: chance.between(args.stay),
        }
    }
}

/// When somebody comes, as a part of the whole time.
fn arrival(chance: &mut Chance) -> f64 {
    let part = chance.part();
    if chance.happens(EARLY_SHARE) {
        part / 3.0
    } else {
        (1.0 + 2.0 * part) / 3.0
    }
}

fn patience(args: &CrowdArgs, chance: &mut Chance) -> Patience {
    let (mind, at) = (chance.part(), chance.part());
    let (comes_back, away) = (chance.happens(args.come_back), chance.between(args.away));
    if mind < args.leave {
        Patience::Leaves { at }
    } else if mind < args.leave + args.close {
        let back = comes_back.then_some(away);
        Patience::Closes { at, back }
    } else {
        Patience::Waits
    }
}

fn inside(args: &CrowdArgs, chance: &mut Chance) -> Inside {
    if chance.happens(args.idle) {
        Inside::Idles
    } else if chance.happens(args.buy) {
        Inside::Buys
    } else {
        Inside::Looks
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: CrowdArgs,
    }

    fn crowd(line: &str) -> Vec<Script> {
        let words = ["crowd"].into_iter().chain(line.split_whitespace());
        let args = Line::try_parse_from(words).unwrap().args;
        let mut chance = Chance::new(3);
        (0..3_000)
            .map(|_| Script::draw(&args, &mut chance))
            .collect()
    }

    #[test]
    fn most_come_in_the_first_third() {
        let scripts = crowd("--arrive 30s");
        let early = scripts
            .iter()
            .filter(|script| script.arrives < Duration::from_secs(10));
        assert!((1_850..2_150).contains(&early.count()));
        let latest = scripts.iter().map(|script| script.arrives).max();
        assert!(latest < Some(Duration::from_secs(30)));
    }

    #[test]
    fn shares_are_kept() {
        let scripts = crowd("--leave 10% --close 20% --buy 0% --idle 0%");
        let count = |is: fn(&Script) -> bool| scripts.iter().filter(|script| is(script)).count();
        let leave = count(|script| matches!(script.patience, Patience::Leaves { .. }));
        let close = count(|script| matches!(script.patience, Patience::Closes { .. }));
        assert!((240..360).contains(&leave), "{leave}");
        assert!((520..680).contains(&close), "{close}");
        assert_eq!(count(|script| script.inside == Inside::Looks), 3_000);
    }
}
