//! What Sentinels are told that puts a line at risk.

use std::{collections::BTreeSet, time::Duration};

use super::super::servers::Watch;

/// A master that is silent for less than this may only be busy with its disk.
const DOWN_AFTER_MIN: Duration = Duration::from_secs(2);
/// Fewer cannot tell a dead master from a broken wire.
const SENTINELS_MIN: usize = 3;

pub(super) fn warnings(watch: &Watch) -> Vec<String> {
    let Watch {
        name,
        sentinels,
        down_after,
        replicas,
    } = watch;
    let mut warnings = Vec::new();
    if replicas.is_empty() {
        warnings.push(format!(
            "Redis has no replica, so there is nothing to fail over to: start one with replicaof, or see SENTINEL REPLICAS {name}"
        ));
    }
    let priorities: BTreeSet<_> = replicas.iter().map(|replica| replica.priority).collect();
    if priorities.len() > 1 {
        let each: Vec<_> = replicas
            .iter()
            .map(|replica| format!("{} has {}", replica.address, replica.priority))
            .collect();
        warnings.push(format!(
            "Redis's replicas have different priorities ({}), so that one may be promoted which has less of the line than another: set the same replica-priority on all",
            each.join(", ")
        ));
    }
    if *down_after < DOWN_AFTER_MIN {
        warnings.push(format!(
            "The Sentinels take a master for dead that is silent for {} ms, also when it is only busy: set down-after-milliseconds to {} or more",
            down_after.as_millis(),
            DOWN_AFTER_MIN.as_millis()
        ));
    }
    if *sentinels < SENTINELS_MIN {
        warnings.push(format!(
            "There are {sentinels} Sentinels, which cannot agree on a new master once one of them is away: run at least {SENTINELS_MIN}"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{
            servers::Replica,
            url::{Address, Wire},
        },
        *,
    };

    fn watch(down_after_ms: u64, sentinels: usize, priorities: &[u32]) -> Watch {
        let replicas = priorities.iter().zip(1..).map(|(&priority, port)| Replica {
            address: Address::Net {
                wire: Wire::Plain,
                host: "cache".into(),
                port,
            },
            priority,
        });
        Watch {
            name: "mymaster".into(),
            sentinels,
            down_after: Duration::from_millis(down_after_ms),
            replicas: replicas.collect(),
        }
    }

    #[test]
    fn what_may_lose_a_line_is_named_with_the_setting_to_change() {
        assert!(warnings(&watch(5_000, 3, &[100, 100])).is_empty());
        for (watch, named) in [
            (watch(5_000, 3, &[]), "replicaof"),
            (
                watch(5_000, 3, &[100, 10]),
                "cache:1 has 100, cache:2 has 10",
            ),
            (watch(5_000, 3, &[100, 0]), "replica-priority"),
            (watch(1_999, 3, &[100]), "down-after-milliseconds"),
            (watch(5_000, 2, &[100]), "at least 3"),
        ] {
            let told = warnings(&watch);
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].contains(named), "{told:?}");
        }
    }
}
