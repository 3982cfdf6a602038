//! The codes of problems, as addresses have them.

use ropeline_web::Explained;

use crate::problems::EXPLAINED;

/// The codes of the rooms and of what is beside them, each once, as they are in addresses.
pub(super) fn slugs(beside: &[Explained]) -> Vec<String> {
    let mut slugs = Vec::new();
    for explained in EXPLAINED.iter().chain(beside) {
        let path = explained.kind.type_path();
        let slug = path.trim_start_matches("/problems/").to_owned();
        if !slugs.contains(&slug) {
            slugs.push(slug);
        }
    }
    slugs
}
