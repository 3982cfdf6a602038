//! What the product should reach, and what it did: the table that a report begins with.

use crate::{
    report::{self, Table},
    stats::Samples,
};

/// One line of that table.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    what: String,
    asked: String,
    measured: String,
    met: bool,
}

/// On which side of its bound a figure should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(bound) => figure >= bound,
            Self::AtMost(bound) => figure <= bound,
        }
    }
}

impl Goal {
    /// The median decides; its spread is shown beside it. The unit is what follows the figure, such as `× hello`.
    pub(crate) fn new(what: &str, bound: Bound, unit: &str, samples: &Samples) -> Self {
        let (sign, limit) = match bound {
            Bound::AtLeast(limit) => ('≥', limit),
            Bound::AtMost(limit) => ('≤', limit),
        };
        let spread = samples.spread(report::short);
        Self {
            what: what.to_owned(),
            asked: format!("{sign} {} {unit}", report::short(limit)),
            measured: format!("{} ({spread})", report::short(samples.median())),
            met: bound.holds(samples.median()),
        }
    }
}

pub(crate) fn table(goals: &[Goal]) -> Table {
    let row = |goal: &Goal| {
        let met = if goal.met { "yes" } else { "no" };
        vec![
            goal.what.clone(),
            goal.asked.clone(),
            goal.measured.clone(),
            met.to_owned(),
        ]
    };
    Table {
        title: "Goals".to_owned(),
        note: "What Ropeline is held to, the median of this run and its spread. Nothing here is a test: a run that misses a\n\
               goal says so and ends well."
            .to_owned(),
        columns: vec!["what", "goal", "measured", "met"],
        rows: goals.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_on_its_side_of_the_bound_only() {
        let samples: Samples = [0.4, 0.5, 0.6].into_iter().collect();
        let goal = |bound| Goal::new("join", bound, "× hello", &samples);
        assert!(goal(Bound::AtLeast(0.5)).met);
        assert!(!goal(Bound::AtLeast(0.51)).met);
        assert!(goal(Bound::AtMost(0.5)).met);
        assert!(!goal(Bound::AtMost(0.49)).met);

        let rows = table(&[goal(Bound::AtLeast(0.51))]).rows;
        let row = ["join", "≥ 0.51 × hello", "0.50 (0.40..0.60)", "no"];
        assert_eq!(rows, [row.map(str::to_owned).to_vec()]);
    }
}
