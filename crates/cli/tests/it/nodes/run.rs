//! A run: a crowd comes, something goes wrong, everybody is asked for once more, and the record is judged.

use std::{collections::BTreeMap, path::Path, sync::Arc, thread, time::Duration};

use ropeline_core::Policy;
use ropeline_testing::history::{At, Counts, History, Op, Question, Rule, Violation, check};
use tokio::{runtime::Runtime, task::JoinSet};

use super::{
    cluster::{ADMIN_KEY, Cluster},
    crowd::Crowd,
    plan::{Manners, Plan},
    visitor::{Fate, Visitor},
};

/// Between two audits while the crowd is there.
const AUDIT_EVERY: Duration = Duration::from_millis(250);
/// Between two audits when nothing moves any more; nodes hear of everything within this.
const CALM: Duration = Duration::from_millis(1_100);
/// So many audits at the end are enough for passes to run out.
const CALM_AUDITS_MAX: usize = 12;
/// Violations of each kind that are shown in full.
const SHOWN_MAX: usize = 3;

pub(crate) struct Scene {
    pub(crate) policy: Policy,
    pub(crate) manners: Manners,
    /// Whoever is not done by then stays where they are.
    pub(crate) over_after: Duration,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) history: History,
    pub(crate) fates: BTreeMap<Fate, usize>,
}

impl Scene {
    /// Plays it on a cluster, while `trouble` happens.
    pub(crate) fn play(&self, cluster: &Cluster, trouble: impl FnOnce(&Crowd) + Send) -> Outcome {
        let recorder = cluster.recorder(&self.policy);
        let crowd = Crowd::new(recorder, cluster.addresses(), self.over_after);
        let crowd = Arc::new(crowd);
        let runtime = Runtime::new().expect("a runtime");
        let (fates, drained_at) = thread::scope(|scope| {
            let trouble = scope.spawn(|| trouble(&crowd));
            let visitors = runtime.block_on(self.visit(&crowd));
            trouble.join().expect("trouble goes as planned");
            let drained_at = crowd.recorder.now();
            let visitors = runtime.block_on(drain(&crowd, visitors));
            (count_fates(&visitors), drained_at)
        });
        drop(runtime);
        let crowd = Arc::into_inner(crowd).expect("everybody has gone");
        Outcome {
            history: crowd.recorder.finish(Some(drained_at)),
            fates,
        }
    }

    async fn visit(&self, crowd: &Arc<Crowd>) -> Vec<Visitor> {
        let mut visits = JoinSet::new();
        for number in 0..self.manners.visitors {
            let plan = Plan::draw(&self.manners);
            let visitor = Visitor::new(Arc::clone(crowd), number, plan, self.manners.haste);
            visits.spawn(visitor.visit());
        }
        let mut audits = JoinSet::new();
        audits.spawn(audit_on_and_on(Arc::clone(crowd)));
        let visitors = visits.join_all().await;
        audits.shutdown().await;
        visitors
    }
}

async fn audit_on_and_on(crowd: Arc<Crowd>) {
    loop {
        audit(&crowd, "main").await;
        tokio::time::sleep(AUDIT_EVERY).await;
    }
}

/// Asks for everybody who may still have a place, and then audits until two say the same.
async fn drain(crowd: &Arc<Crowd>, visitors: Vec<Visitor>) -> Vec<Visitor> {
    let mut last = JoinSet::new();
    for visitor in visitors {
        last.spawn(visitor.show_up());
    }
    let visitors = last.join_all().await;
    let mut before = None;
    for _ in 0..CALM_AUDITS_MAX {
        tokio::time::sleep(CALM).await;
        let counts = audit(crowd, "main").await;
        if counts.is_some() && counts == before {
            break;
        }
        before = counts;
    }
    visitors
}

/// An operator looks at the figures of a room.
pub(crate) async fn audit(crowd: &Crowd, room: &str) -> Option<Counts> {
    let question = Question {
        client: usize::MAX,
        node: crowd.pick(),
        op: Op::Audit,
        user: "operator".into(),
        holds: None,
        returned: None,
    };
    let (record, _) = crowd
        .ask(question, |client, base| {
            let request = client.get(format!("{base}/api/v1/admin/rooms/{room}/stats"));
            request.bearer_auth(ADMIN_KEY)
        })
        .await?;
    record.counts
}

fn count_fates(visitors: &[Visitor]) -> BTreeMap<Fate, usize> {
    let mut fates = BTreeMap::new();
    for visitor in visitors {
        *fates.entry(visitor.fate).or_default() += 1;
    }
    fates
}

impl Outcome {
    pub(crate) fn count(&self, fate: Fate) -> usize {
        self.fates.get(&fate).copied().unwrap_or_default()
    }

    /// Holds the record against every rule; one that is broken fails the test and leaves the record behind.
    #[track_caller]
    #[expect(clippy::print_stdout, reason = "a run that went well says what it was")]
    pub(crate) fn judge(&self, name: &str) {
        println!("{name}: {}", self.summary());
        if let Err(broken) = judged(name, &self.history) {
            panic!("{}", broken.words);
        }
    }

    /// In a few words.
    pub(crate) fn summary(&self) -> String {
        let end = self.history.records.iter().map(|record| record.t1).max();
        format!(
            "{} answers and {} turns of fortune in {:.1?}; {:?}",
            self.history.records.len(),
            self.history.faults.len(),
            end.unwrap_or(At::ZERO),
            self.fates
        )
    }
}

/// Rules that were broken.
pub(crate) struct Broken {
    pub(crate) violations: Vec<Violation>,
    /// What they were, and where the record is.
    pub(crate) words: String,
}

/// Holds a record against every rule; where one is broken, the record is left behind.
pub(crate) fn judged(name: &str, history: &History) -> Result<(), Broken> {
    let violations = check(history);
    if violations.is_empty() {
        return Ok(());
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = path.join(format!("{name}-{}.jsonl", std::process::id()));
    history.write(&path).expect("the record is written");
    let shown = shortest(history, &violations);
    let words = format!(
        "{name} broke {:?}; the record is {}\n{}",
        counts(&violations),
        path.display(),
        shown.join("\n")
    );
    Err(Broken { violations, words })
}

/// The first few violations of each kind, with the answers that show them.
fn shortest(history: &History, violations: &[Violation]) -> Vec<String> {
    let mut kinds = BTreeMap::new();
    let shown = violations.iter().filter(|violation| {
        let shows = violation.records.last().map(|id| &history.records[*id]);
        let kind = (
            violation.rule,
            shows.map(|record| format!("{:?}", record.op)),
        );
        let count = kinds.entry(kind).or_insert(0);
        *count += 1;
        *count <= SHOWN_MAX
    });
    shown.map(|violation| history.explain(violation)).collect()
}

/// How often each rule was broken.
pub(crate) fn counts(broken: &[Violation]) -> BTreeMap<Rule, usize> {
    let mut counts = BTreeMap::new();
    for violation in broken {
        *counts.entry(violation.rule).or_default() += 1;
    }
    counts
}
