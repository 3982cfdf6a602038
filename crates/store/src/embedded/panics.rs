//! redb panics at some damaged bytes. While the database is opened and read, a panic means damage.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use super::book::BookError;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Reads what may be damaged. A panic becomes the error for damage, and nothing is printed for it.
pub(super) fn caught<T>(read: impl FnOnce() -> Result<T, BookError>) -> Result<T, BookError> {
    silence_caught_panics();
    let outer = CATCHING.replace(true);
    // What a panic leaves half done is dropped with the database and not used again.
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    CATCHING.set(outer);
    outcome.unwrap_or_else(|panic| {
        Err(BookError::damaged(format!(
            "reading it failed: {}",
            text(&*panic)
        )))
    })
}

/// Wraps the process's panic hook once, for good. Replacing it for the time of reading would also silence other
/// threads, and two stores that open at the same time could restore each other's hook.
fn silence_caught_panics() {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CATCHING.get() {
                tracing::debug!(panic = %info, "the database cannot be read");
            } else {
                print(info);
            }
        }));
    });
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    let formatted = || panic.downcast_ref::<String>().map(String::as_str);
    literal.or_else(formatted).unwrap_or("a panic")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(read: impl FnOnce() -> Result<(), BookError>) -> String {
        caught(read).unwrap_err().to_string()
    }

    #[test]
    fn a_panic_is_damage_with_its_text() {
        assert_eq!(fail(|| panic!("a literal")), "reading it failed: a literal");
        assert_eq!(fail(|| panic!("byte {}", 7)), "reading it failed: byte 7");
        assert_eq!(fail(|| panic::panic_any(7)), "reading it failed: a panic");
        assert_eq!(fail(|| Err(BookError::damaged("a row"))), "a row");
        assert_eq!(caught(|| Ok(7)).unwrap(), 7);
    }

    #[test]
    fn only_the_panics_that_are_caught_are_silent() {
        let is_silent = || CATCHING.get();
        let mut silent = Vec::new();
        fail(|| {
            silent.push(is_silent());
            silent.push(std::thread::spawn(is_silent).join().unwrap());
            panic!("at a damaged byte")
        });
        silent.push(is_silent());
        assert_eq!(
            silent,
            [true, false, false],
            "here, in another thread, after"
        );
    }
}
