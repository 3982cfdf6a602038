//! The language that a person is answered in.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_LANGUAGE, COOKIE},
    request::Parts,
};

/// Where a chosen language is kept. No room's cookie can be called so.
const COOKIE_NAME: &str = "ropeline_lang";
/// A year, in seconds.
const COOKIE_AGE_S: u32 = 31_536_000;

/// A language that pages are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// 한국어
    Korean,
    /// English
    English,
}

impl Language {
    /// Every language, in the order of the switch.
    pub const ALL: [Self; 2] = [Self::Korean, Self::English];

    /// The tag that HTML and `?lang=` use.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Korean => "ko",
            Self::English => "en",
        }
    }

    /// The name of the language in itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::Korean => "한국어",
            Self::English => "English",
        }
    }

    fn of_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }
}

/// The language of a request: what `?lang=` says, else what was chosen before, else the first that the
/// browser asks for and that there is, else English.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speaking {
    /// The language to answer in.
    pub language: Language,
    /// Whether this request chose it, so that it is to be remembered.
    pub chosen: bool,
}

impl Speaking {
    /// What a request asks for.
    pub fn of(query: &str, headers: &HeaderMap) -> Self {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let asked = pairs.find(|(name, _)| name == "lang");
        let chosen = asked.and_then(|(_, tag)| Language::of_tag(&tag));
        let language = chosen
            .or_else(|| remembered(headers))
            .or_else(|| accepted(headers))
            .unwrap_or(Language::English);
        Self {
            language,
            chosen: chosen.is_some(),
        }
    }

    /// The `Set-Cookie` that remembers the language, if it was chosen just now.
    pub fn cookie(self) -> Option<HeaderValue> {
        let tag = self.language.tag();
        let text =
            format!("{COOKIE_NAME}={tag}; Path=/; Max-Age={COOKIE_AGE_S}; HttpOnly; SameSite=Lax");
        let value = || HeaderValue::try_from(text).expect("a tag is visible ASCII");
        self.chosen.then(value)
    }
}

impl<S: Sync> FromRequestParts<S> for Speaking {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self::of(query, &parts.headers))
    }
}

fn remembered(headers: &HeaderMap) -> Option<Language> {
    let lines = headers.get_all(COOKIE).into_iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE_NAME)
        .find_map(|(_, tag)| Language::of_tag(tag))
}

/// The language with the highest weight; among equals the first.
fn accepted(headers: &HeaderMap) -> Option<Language> {
    let lines = headers.get_all(ACCEPT_LANGUAGE).into_iter();
    let wishes = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .filter_map(wish);
    let best = wishes.fold(None, |best: Option<(Language, f32)>, wish| match best {
        Some(best) if best.1 >= wish.1 => Some(best),
        _ => Some(wish),
    });
    best.map(|(language, _)| language)
}

/// One entry of `Accept-Language`: `ko-KR;q=0.8`. A weight that cannot be read is as good as none.
fn wish(entry: &str) -> Option<(Language, f32)> {
    let mut parts = entry.split(';').map(str::trim);
    let tag = parts.next()?.to_ascii_lowercase();
    let language = Language::of_tag(tag.split('-').next()?)?;
    let weight = parts.find_map(|part| part.strip_prefix("q="));
    let weight = weight.map_or(1.0, |text| text.parse::<f32>().unwrap_or(0.0));
    (weight > 0.0 && weight <= 1.0).then_some((language, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(query: &str, headers: &[(&'static str, &'static str)]) -> Language {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        Speaking::of(query, &map).language
    }

    #[test]
    fn the_browsers_wish_is_weighed() {
        for (wish, language_wanted) in [
            ("ko", Language::Korean),
            ("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", Language::Korean),
            ("en-US,en;q=0.9,ko;q=0.8", Language::English),
            ("en;q=0.5, ko;q=0.6", Language::Korean),
            ("ko;q=0.5, en;q=0.5", Language::Korean),
            ("fr, de;q=0.9, ko;q=0.1", Language::Korean),
            ("ko;q=0, fr", Language::English),
            ("ko;q=2, en;q=0.1", Language::English),
            ("ko;q=NaN", Language::English),
            ("kok, konkani", Language::English),
            ("KO-kr", Language::Korean),
            ("*", Language::English),
            ("", Language::English),
        ] {
            let chosen = language("", &[("accept-language", wish)]);
            assert_eq!(chosen, language_wanted, "{wish}");
        }
        assert_eq!(language("", &[]), Language::English);
    }

    #[test]
    fn a_choice_beats_the_cookie_and_the_cookie_beats_the_browser() {
        let headers = [
            ("accept-language", "en"),
            ("cookie", "a=b; ropeline_lang=ko"),
        ];
        assert_eq!(language("", &headers), Language::Korean);
        assert_eq!(language("room=x&lang=en", &headers), Language::English);
        assert_eq!(language("lang=xx", &headers), Language::Korean);
        let unknown = [("accept-language", "ko"), ("cookie", "ropeline_lang=xx")];
        assert_eq!(language("", &unknown), Language::Korean);
    }

    #[test]
    fn only_a_choice_is_remembered() {
        let chosen = Speaking::of("lang=ko", &HeaderMap::new());
        assert_eq!(
            chosen.cookie().unwrap(),
            "ropeline_lang=ko; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"
        );
        assert_eq!(Speaking::of("", &HeaderMap::new()).cookie(), None);
    }
}
