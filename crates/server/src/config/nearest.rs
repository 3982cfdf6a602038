//! Which word was meant.

/// The word that is nearest to what was written, if any is near enough to be meant.
pub fn nearest<'a>(written: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters wrong is still a slip; more is another word.
    let distance_max = written.chars().count().div_ceil(3);
    words
        .into_iter()
        .map(|word| (distance(written, word), word))
        .filter(|(distance, _)| *distance <= distance_max)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// How many letters must be put in, taken out or changed to make one word the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_finds_none() {
        let words = ["every", "batch", "active_max", "pass_ttl", "pass_max"];
        for (written, meant) in [
            ("evry", Some("every")),
            ("bacth", Some("batch")),
            ("batches", Some("batch")),
            ("activemax", Some("active_max")),
            ("pass-ttl", Some("pass_ttl")),
            ("tick", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, words), meant, "{written}");
        }
    }
}
