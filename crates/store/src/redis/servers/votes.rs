//! What most of those who were asked say.

use redis::{Cmd, RedisResult, Value};

use super::super::{pool::Pool, url::Address};

/// What was said, by whom.
pub(super) type Answers = Vec<(Address, RedisResult<Value>)>;

/// Asks all at once.
pub(super) async fn ask_all<'a>(
    pool: &Pool,
    servers: impl IntoIterator<Item = &'a Address>,
    command: &Cmd,
) -> Answers {
    let asked = servers
        .into_iter()
        .map(async |server| (server.clone(), pool.send(server, command).await));
    futures_util::future::join_all(asked).await
}

/// What most say, or the first of those that as many say.
pub(super) fn most_said<T: PartialEq>(said: Vec<T>) -> Option<T> {
    let votes = |one: &T| said.iter().filter(|other| *other == one).count();
    let most = said.iter().map(votes).max()?;
    let at = said.iter().position(|one| votes(one) == most)?;
    said.into_iter().nth(at)
}

/// Why nobody answers, told by the first who was asked.
pub(super) fn first_reason(answers: &Answers) -> String {
    let failed = answers.iter().find_map(|(server, answer)| {
        let error = answer.as_ref().err()?;
        Some(format!("{server}: {error}"))
    });
    failed.unwrap_or_else(|| "nobody was asked".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_say_is_believed_and_the_first_where_they_are_as_many() {
        assert_eq!(most_said(vec![1, 2, 2]), Some(2));
        assert_eq!(most_said(vec![3, 1]), Some(3));
        assert_eq!(most_said(Vec::<u8>::new()), None);
    }
}
