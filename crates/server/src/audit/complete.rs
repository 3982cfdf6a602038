//! Requests that go on after their client has gone.

use std::panic::resume_unwind;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use ropeline_web::{Problem, Tasks};

use super::is_change;

/// Answers requests that change something in tasks of their own, by routes whose changes are all in the audit log.
///
/// A handler is dropped when its client resets the connection. The change may be made by then, and the line about it
/// would be missing.
pub(crate) async fn complete(State(tasks): State<Tasks>, request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    match tasks.spawn(next.run(request)).await {
        Ok(answer) => answer,
        Err(ended) => match ended.try_into_panic() {
            // The connection answers and logs it as any other.
            Ok(panic) => resume_unwind(panic),
            Err(_) => Problem::internal().into_response(),
        },
    }
}

/// The same by routes of which only those for operators are in the audit log.
pub(crate) async fn complete_for_operators(
    tasks: State<Tasks>,
    request: Request,
    next: Next,
) -> Response {
    if is_change(&request) {
        complete(tasks, request, next).await
    } else {
        next.run(request).await
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, net::SocketAddr, pin::pin, sync::Arc, task::Poll, time::Duration};

    use axum::{body::Body, extract::ConnectInfo};
    use ropeline_testing::{ManualClock, line::START};
    use tower::ServiceExt;

    use super::*;
    use crate::{
        config::{Overrides, Settings},
        router::router,
        start::Ready,
    };

    const KEY: &str = "a-key-of-these-tests";

    #[tokio::test]
    async fn commands_and_calls_of_services_go_on_when_nobody_waits_for_them() {
        let data = tempfile::tempdir().unwrap();
        let overrides = Overrides {
            listen: Some("127.0.0.1:0".into()),
            data: Some(data.path().to_owned()),
            admin_key: Some(KEY.into()),
            service_key: Some(KEY.into()),
            ..Overrides::default()
        };
        let settings = Settings::from_text("", &overrides).unwrap();
        let clock = Arc::new(ManualClock::at(START));
        let ready = Ready::prepare(settings, clock).await.unwrap();
        let (app, tasks) = (ready.app().clone(), Tasks::new());
        let router = router(app.clone(), None, &tasks);
        for path in [
            "/api/v1/admin/rooms/main/reset",
            "/api/v1/service/rooms/main/tokens",
        ] {
            let request = Request::post(path)
                .header("Authorization", format!("Bearer {KEY}"))
                .header("Content-Type", "application/json")
                .extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))))
                .body(Body::from("{}"));
            let mut answer = pin!(router.clone().oneshot(request.unwrap()));
            let waits = poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx).is_pending())).await;
            assert!(waits, "{path}");
        }
        tasks.finish(Duration::from_secs(10)).await;
        app.audit.close(START).await;
        let text = std::fs::read_to_string(data.path().join("audit.log")).unwrap();
        for action in ["reset", "service"] {
            assert!(text.contains(&format!("\"action\":\"{action}\"")), "{text}");
        }
    }
}
