//! A connection whose every question and answer is taken down.

use std::{io, net::SocketAddr, thread, time::Duration};

use ropeline_testing::{
    history::{History, Kind, Op, Question, Record, Recorder, Target, Turn, check},
    http::{Ask, Client, Reply},
};

use crate::visitor::{join, leave, status, verify};

/// Between two looks at a room in which nothing moves; judges take that for calm.
const CALM: Duration = Duration::from_millis(1_100);

/// One client of the only node there is.
pub(crate) struct Connection<'r> {
    recorder: &'r Recorder,
    client: Client,
    number: usize,
}

/// Who asks, and the token and ordinal in their hands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hand {
    pub(crate) user: String,
    pub(crate) token: Option<String>,
    pub(crate) ordinal: Option<u64>,
}

impl<'r> Connection<'r> {
    pub(crate) fn open(
        recorder: &'r Recorder,
        server: SocketAddr,
        number: usize,
    ) -> io::Result<Self> {
        Ok(Self {
            recorder,
            client: Client::connect(server)?,
            number,
        })
    }

    /// Asks for a visitor, who keeps the token of a join. Joins have the same key each time, so that the
    /// place of an answer that was lost is found again.
    pub(crate) fn ask(&mut self, op: Op, hand: &mut Hand) -> io::Result<Record> {
        let token = hand.token.as_deref().unwrap_or_default();
        let ask = match op {
            Op::Join => join(&hand.user).header("Idempotency-Key", &hand.user),
            Op::Poll => status(token),
            Op::Gate => verify(token),
            Op::Leave => leave(token),
            Op::Audit | Op::Find => unreachable!("visitors are no operators"),
        };
        let holds = hand.ordinal.filter(|_| op != Op::Join);
        let (record, reply) = self.send(op, &hand.user, holds, &ask)?;
        if op == Op::Join && record.told.is_some() {
            hand.token = reply.json()["token"].as_str().map(str::to_owned);
            hand.ordinal = record.ordinal();
        }
        Ok(record)
    }

    /// Asks how many are where.
    pub(crate) fn audit(&mut self, admin_key: &str) -> io::Result<Record> {
        let ask = Ask::get("/api/v1/admin/rooms/main/stats")
            .header("Authorization", &format!("Bearer {admin_key}"));
        let (record, _) = self.send(Op::Audit, "operator", None, &ask)?;
        Ok(record)
    }

    /// Two looks at a room in which nothing moves.
    pub(crate) fn audit_in_calm(&mut self, admin_key: &str) {
        for _ in 0..2 {
            thread::sleep(CALM);
            self.audit(admin_key).expect("an answer");
        }
    }

    fn send(
        &mut self,
        op: Op,
        user: &str,
        holds: Option<u64>,
        ask: &Ask,
    ) -> io::Result<(Record, Reply)> {
        let asked = self.recorder.asks(Question {
            client: self.number,
            node: 0,
            op,
            user: user.to_owned(),
            holds,
            returned: None,
        });
        match self.client.try_send(ask) {
            Ok(reply) => Ok((self.recorder.answered(asked, &reply), reply)),
            Err(error) => {
                self.recorder.unanswered(asked);
                Err(error)
            }
        }
    }
}

/// Notes that the only node, which keeps the line too, is being killed, or is back.
pub(crate) fn killed(recorder: &Recorder, turn: Turn) {
    recorder.fault(Kind::Killed, Target::Node(0), turn);
    recorder.fault(Kind::Killed, Target::Store, turn);
}

/// Fails unless every rule was kept.
#[track_caller]
pub(crate) fn assert_kept(history: &History) {
    let broken = check(history);
    let told: Vec<_> = broken
        .iter()
        .take(8)
        .map(|violation| history.explain(violation))
        .collect();
    assert!(
        broken.is_empty(),
        "{} times broken:\n{}",
        broken.len(),
        told.join("\n")
    );
}
