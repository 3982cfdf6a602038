//! One visitor of a room: where they are, and putting them out.

use std::time::Duration;

use reqwest::Method;

use super::{
    args::VisitorArgs,
    desk::Desk,
    trouble::Trouble,
    views::{Visitor, read},
};
use crate::{
    http::Answer,
    units::{grouped, spoken},
};

pub(super) async fn find(desk: &Desk, args: &VisitorArgs) -> Result<(Answer, String), Trouble> {
    let answer = ask(desk, args, Method::GET).await?;
    let visitor: Visitor = read(&answer)?;
    let (user, room) = (args.user.as_str(), &args.named.room);
    let number = grouped(visitor.ordinal);
    let user = if visitor.verified {
        format!("{user} (verified)")
    } else {
        user.to_owned()
    };
    let text = if visitor.status == "ACTIVE" {
        let until = visitor.expires_at.unwrap_or_default();
        format!("{user} is inside {room}, at least until {until} (place number {number})")
    } else {
        let wait = match visitor.eta_seconds {
            Some(seconds) => format!("about {} to go", spoken(Duration::from_secs(seconds))),
            None => "nobody can say for how long".into(),
        };
        let position = grouped(visitor.position);
        format!("{user} waits in {room} at position {position}, {wait} (place number {number})")
    };
    Ok((answer, text))
}

pub(super) async fn revoke(desk: &Desk, args: &VisitorArgs) -> Result<(Answer, String), Trouble> {
    let answer = ask(desk, args, Method::DELETE).await?;
    let (user, room) = (args.user.as_str(), &args.named.room);
    Ok((answer, format!("{user} is out of {room}")))
}

async fn ask(desk: &Desk, args: &VisitorArgs, method: Method) -> Result<Answer, Trouble> {
    let (user, room) = (args.user.as_str(), &args.named.room);
    let which = match (args.verified, args.stated) {
        (true, _) => "&verified=true",
        (_, true) => "&verified=false",
        _ => "",
    };
    let path = format!("/{room}/visitors?userId={}{which}", escaped(user));
    let answer = desk.send(method, &path, None).await;
    answer.map_err(|trouble| match trouble.code() {
        Some("VISITOR_NOT_FOUND") => Trouble::Other(format!(
            "{user} has no place in {room}: neither in line nor inside"
        )),
        _ => trouble,
    })
}

/// Safe as a value of a query, whatever the site's user ids look like.
fn escaped(user: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    user.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_id_is_one_value_of_a_query() {
        assert_eq!(escaped("user-42_a.b~c"), "user-42_a.b~c");
        assert_eq!(escaped("a/b?c#d%2F@x:1"), "a%2Fb%3Fc%23d%252F%40x%3A1");
        assert_eq!(escaped("../a&b=c+d"), "..%2Fa%26b%3Dc%2Bd");
    }
}
