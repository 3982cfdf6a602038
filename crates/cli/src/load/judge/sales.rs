//! What was bought, compared with what was paid and with what others bought.

use std::collections::HashMap;

use super::{Rule, Wrong};

/// A payment as its buyer saw it. An amount is missing if it was not told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sale {
    pub(crate) seat: u64,
    /// Told with the hold.
    pub(crate) price: i64,
    /// Told with the payment.
    pub(crate) paid: Option<i64>,
    /// The balance before and after.
    pub(crate) had: Option<i64>,
    pub(crate) has: Option<i64>,
}

/// Who has which seat.
#[derive(Debug, Default)]
pub(super) struct Sales(HashMap<u64, usize>);

impl Sales {
    pub(super) fn add(&mut self, who: usize, sale: Sale, wrong: &mut Wrong) {
        let Sale {
            seat,
            price,
            paid,
            had,
            has,
        } = sale;
        if let Some(other) = self.0.insert(seat, who) {
            let what = format!("paid for seat {seat}, as visitor {other} had");
            wrong.add(Rule::SeatSoldOnce, who, &what);
        }
        if paid != Some(price) || has != had.map(|had| had - price) {
            let told = |points: Option<i64>| points.map_or("?".into(), |points| points.to_string());
            let what = format!(
                "a seat for {price} cost {} of {} points, and {} are left",
                told(paid),
                told(had),
                told(has)
            );
            wrong.add(Rule::PointsFit, who, &what);
        }
    }
}
