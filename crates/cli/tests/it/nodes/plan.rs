//! What each visitor of a crowd is going to do.

use std::{ops::RangeInclusive, time::Duration};

use crate::wait::any_of;

/// How a crowd behaves.
#[derive(Debug, Clone)]
pub(crate) struct Manners {
    pub(crate) visitors: usize,
    /// They come within this time.
    pub(crate) arrive: Duration,
    /// Of a hundred, so many give up their place.
    pub(crate) leave: u64,
    /// Close the tab for good.
    pub(crate) vanish: u64,
    /// Close the tab for a while.
    pub(crate) wander: u64,
    /// Let their pass run out.
    pub(crate) idle: u64,
    /// How long the others stay inside.
    pub(crate) stay_ms: RangeInclusive<u64>,
    /// They ask so many times as often as they are told to.
    pub(crate) haste: u32,
}

impl Manners {
    /// A crowd in which a bit of everything happens.
    pub(crate) fn mixed(visitors: usize, arrive: Duration) -> Self {
        Self {
            visitors,
            arrive,
            leave: 8,
            vanish: 5,
            wander: 7,
            idle: 5,
            stay_ms: 200..=700,
            haste: 3,
        }
    }
}

/// One visitor's intentions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) arrives: Duration,
    pub(crate) patience: Patience,
    pub(crate) inside: Inside,
}

/// What happens in line, so long after joining.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    Waits,
    Leaves { after: Duration },
    Vanishes { after: Duration },
    Wanders { after: Duration, away: Duration },
}

/// What happens inside.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inside {
    Finishes { stay: Duration },
    Idles,
}

impl Plan {
    pub(crate) fn draw(manners: &Manners) -> Self {
        let arrive = u64::try_from(manners.arrive.as_millis()).unwrap_or(u64::MAX);
        let after = millis(0..=4_000);
        let Manners {
            leave,
            vanish,
            wander,
            ..
        } = *manners;
        let patience = match any_of(0..=99) {
            mind if mind < leave => Patience::Leaves { after },
            mind if mind < leave + vanish => Patience::Vanishes { after },
            mind if mind < leave + vanish + wander => Patience::Wanders {
                after,
                away: millis(1_000..=8_000),
            },
            _ => Patience::Waits,
        };
        let inside = if any_of(0..=99) < manners.idle {
            Inside::Idles
        } else {
            let stay = millis(manners.stay_ms.clone());
            Inside::Finishes { stay }
        };
        Self {
            arrives: millis(0..=arrive),
            patience,
            inside,
        }
    }
}

fn millis(range: RangeInclusive<u64>) -> Duration {
    Duration::from_millis(any_of(range))
}
