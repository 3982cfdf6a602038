//! The hosts for which a server answers.

use http::{HeaderName, Method};
use ropeline_web::Hosts;

use super::Settings;

/// Asked by load balancers, which know an address or a name of their own, and tell nothing about visitors.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];
/// Asked by proxies and services under internal names, always with a token or a key. A page of another site
/// has neither.
const PROVED: [&str; 2] = ["/api/v1/queue/verify", "/api/v1/service/*"];
/// Where a back end ends the place of a visitor, with the token in a header. A page of another site has no
/// token but its own.
const TOKENS: &str = "/api/v1/queue/tokens";
const X_QUEUE_TOKEN: HeaderName = HeaderName::from_static("x-queue-token");
/// Asked by collectors under internal names. On a server for this machine alone they need no other name.
const METRICS: &str = "/metrics";

impl Settings {
    /// The hosts for which a server with these settings answers.
    ///
    /// A server that others reach, but that was not told its name, has to answer for any.
    pub fn hosts(&self) -> Hosts {
        let own = self.public_url.as_ref().map(|url| url.host().to_owned());
        let listed = self.allowed_hosts.iter().chain(&self.return_hosts).cloned();
        let has_name = own.is_some() || !self.allowed_hosts.is_empty();
        if !has_name && !self.listen.ip().to_canonical().is_loopback() {
            return Hosts::any();
        }
        Hosts::only(own.into_iter().chain(listed))
            .exempt(HEALTH)
            .exempt(PROVED)
            .exempt_with_header(Method::DELETE, TOKENS, X_QUEUE_TOKEN)
            .exempt(has_name.then_some(METRICS))
    }
}
