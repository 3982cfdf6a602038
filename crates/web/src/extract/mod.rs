//! Extractors whose refusals are problems that name the field.

mod json;
mod object;
mod params;

pub use self::{
    json::{Json, JsonBody, JsonText, read_body},
    object::object,
    params::{Path, Query},
};

/// Longest text taken over from a deserializer, which may quote the client.
const MESSAGE_CHARS_MAX: usize = 256;

/// Where and what, from the words of a deserializer.
///
/// Serde reports an unknown or missing field at its parent and names it only in the text.
fn locate(path: &serde_path_to_error::Path, message: &str) -> (String, String) {
    let parent = path.to_string();
    let named = ["unknown field `", "missing field `"]
        .iter()
        .find_map(|start| message.strip_prefix(start))
        .and_then(|rest| rest.split_once('`'));
    let field = match named {
        // Some deserializers have put the field into the path already.
        Some((name, _)) if parent == name || parent.ends_with(&format!(".{name}")) => parent,
        Some((name, _)) if parent == "." => name.to_owned(),
        Some((name, _)) => format!("{parent}.{name}"),
        None => parent,
    };
    (cut(&field), cut(message))
}

fn cut(text: &str) -> String {
    text.chars().take(MESSAGE_CHARS_MAX).collect()
}
