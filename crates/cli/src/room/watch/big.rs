//! Figures three lines high, for terminals with room to spare.

/// The digits, each three columns wide.
const DIGITS: [[&str; 3]; 10] = [
    ["┏━┓", "┃ ┃", "┗━┛"],
    ["╺┓ ", " ┃ ", "╺┻╸"],
    ["╺━┓", "┏━┛", "┗━╸"],
    ["╺━┓", " ━┫", "╺━┛"],
    ["╻ ╻", "┗━┫", "  ╹"],
    ["┏━╸", "┗━┓", "╺━┛"],
    ["┏━╸", "┣━┓", "┗━┛"],
    ["╺━┓", "  ┃", "  ╹"],
    ["┏━┓", "┣━┫", "┗━┛"],
    ["┏━┓", "┗━┫", "╺━┛"],
];

/// The figure in three lines, or `None` if it is wider than that.
pub(super) fn big(figure: &str, width: u16) -> Option<[String; 3]> {
    let lines = [0, 1, 2].map(|line| {
        let glyphs = figure.chars().map(|letter| glyph(letter, line));
        glyphs.collect::<String>()
    });
    let columns = lines[0].chars().count();
    (columns <= usize::from(width)).then_some(lines)
}

/// One line of a character. Units stay small, at the foot.
fn glyph(letter: char, line: usize) -> String {
    match letter.to_digit(10) {
        Some(digit) => DIGITS[digit as usize][line].into(),
        None if letter == '/' => ["  ╱", " ╱ ", "╱  "][line].into(),
        None if line == 2 => letter.into(),
        None => " ".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_three_lines_high_where_there_is_room() {
        let lines = big("1m 20s", 12).unwrap();
        let expected = ["╺┓   ╺━┓┏━┓ ", " ┃   ┏━┛┃ ┃ ", "╺┻╸m ┗━╸┗━┛s"];
        assert_eq!(lines, expected);
        assert_eq!(big("1m 20s", 11), None);
    }
}
