//! What callers show to be believed.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};

/// The queue token of a visitor.
pub fn queue_token() -> SecurityScheme {
    let token = ApiKeyValue::with_description(
        "X-Queue-Token",
        "The token that joining gave. The plain header `token` and the cookie of the room do as well.",
    );
    SecurityScheme::ApiKey(ApiKey::Header(token))
}

/// Something behind `Authorization: Bearer`.
pub fn bearer(about: &str) -> SecurityScheme {
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
    SecurityScheme::Http(scheme.description(Some(about)).build())
}
