//! The box office on the same address as the rooms.

use std::{sync::Arc, time::Duration};

use ropeline_boxoffice::http::{
    EXPLAINED, LOGIN_AUDIENCE, LOGIN_ISSUER, Logins, Operators, Parts, Service, openapi,
};
use ropeline_core::Clock;
use ropeline_gate::{Cookies, Gate, Gatekeeper};
use ropeline_server::{Beside, Ready, SharedLogin, config::Settings};
use ropeline_web::Tasks;

use super::books::Books;
use crate::failure::Failure;

/// How long the workers may take to put down what they have in hand.
const PUT_DOWN: Duration = Duration::from_secs(5);

/// What the operator wants beside the rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The box office.
    BoxOffice,
    /// Nothing.
    Nothing,
    /// The box office, but nodes that share a Redis would each sell the same seats from a file of their own.
    LacksDatabase,
}

impl Wish {
    pub(crate) fn of(settings: &Settings) -> Self {
        let boxoffice = &settings.boxoffice;
        if boxoffice.serves_with(&settings.store, settings.database.as_ref()) {
            Self::BoxOffice
        } else if boxoffice.enabled {
            Self::LacksDatabase
        } else {
            Self::Nothing
        }
    }
}

/// A box office beside the rooms.
#[derive(Debug)]
pub(crate) struct Neighbour {
    service: Service,
    books: Books,
    tasks: Tasks,
}

impl Neighbour {
    /// Opens the box office, and lets the server of the rooms answer for it too.
    pub(crate) async fn move_in(
        ready: Ready,
        settings: &Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<(Ready, Self), Failure> {
        let room = settings.boxoffice.room.clone();
        if ready.store().view(&room).is_none() {
            let text = format!(
                "boxoffice.room names a room that is not there: {room}\nMake it with a section [rooms.{room}], or name \
                 another."
            );
            return Err(Failure::Server(text.into()));
        }
        let books = Books::open(settings, clock.now()).await?;
        let secret = books.secret;
        let service = Service::new(Parts {
            office: books.office.clone(),
            gate: gate(settings, ready.gatekeeper()),
            gatekeeper: ready.gatekeeper(),
            room,
            logins: Logins::with_secret(&secret),
            operators: Operators::told_apart_before(),
            clock,
            cookies: cookie_scope(settings),
            rates: ready.rates(),
            host: public_host(settings),
            trusted_proxies: settings.trusted_proxies.clone(),
        });
        let login = SharedLogin {
            secret,
            issuer: LOGIN_ISSUER.to_owned(),
            audience: LOGIN_AUDIENCE.to_owned(),
        };
        let ready = ready.beside(Beside {
            router: service.router(),
            openapi: openapi(),
            explained: EXPLAINED,
            login: Some(login),
        });
        let neighbour = Self {
            service,
            books,
            tasks: Tasks::new(),
        };
        Ok((ready, neighbour))
    }

    /// Where the books are, for people.
    pub(crate) fn books(&self) -> &str {
        &self.books.place
    }

    /// Does what is owed to the waiting room, until it is told to stop.
    pub(crate) fn go_to_work(&self) {
        self.service.run(&self.tasks);
    }

    /// Asks the workers to put down what they have in hand; requests are answered for a while yet.
    pub(crate) fn stop_working(&self) {
        self.tasks.stop();
    }

    /// Closes the books, when nobody is answered any more.
    pub(crate) async fn close(self) {
        self.tasks.finish(PUT_DOWN).await;
        self.books.close().await;
    }
}

/// The gate before dates and seats. Behind https it takes no cookie that another host could have set.
pub(super) fn gate(settings: &Settings, keeper: Arc<dyn Gatekeeper>) -> Gate {
    let gate = Gate::new(settings.boxoffice.room.clone(), keeper);
    match cookie_scope(settings) {
        Cookies::HostOnly => gate.cookies(Cookies::HostOnly),
        Cookies::Plain => gate,
    }
}

/// Over https alone, where visitors come by it.
pub(super) fn cookie_scope(settings: &Settings) -> Cookies {
    match &settings.public_url {
        Some(url) if url.is_https() => Cookies::HostOnly,
        _ => Cookies::Plain,
    }
}

/// The host of the address by which visitors come.
pub(super) fn public_host(settings: &Settings) -> Option<String> {
    let (_, host) = settings.public_url.as_ref()?.as_str().split_once("://")?;
    Some(host.to_owned())
}
