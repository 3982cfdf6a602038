//! The data directory: one owner, checked on opening, as large as the line.

use std::sync::Arc;

use ropeline_core::Header;
use ropeline_store::{EmbeddedStore, OpenError, Store};

use crate::given::{Given, holder, open_again, policy};

#[tokio::test]
async fn a_second_process_is_refused_with_a_clear_message() {
    let given = Given::room(policy()).await;
    let error =
        EmbeddedStore::open(given.directory.path(), Arc::clone(&given.clock) as _).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("in use by another ropeline process"),
        "{message}"
    );
    assert!(
        message.contains(&format!("pid {}", std::process::id())),
        "{message}"
    );
}

#[tokio::test]
async fn the_directory_is_free_again_once_the_store_is_gone() {
    let given = Given::room(policy()).await;
    given.join("ann").await;
    let Given {
        store,
        clock,
        directory,
        room,
    } = given;
    store.close().await;
    assert!(store.settle(&room).await.is_err(), "a closed store refuses");
    drop(Arc::into_inner(store).expect("nobody else has it"));
    let store = open_again(directory.path(), &clock).unwrap();
    assert_eq!(store.view(&room).unwrap().view.header.issued.0, 1);
}

#[tokio::test]
async fn a_damaged_file_is_refused() {
    let given = Given::room(policy()).await;
    for n in 1..=200 {
        given.join(&format!("user-{n}")).await;
    }
    let Given {
        store,
        clock,
        directory,
        ..
    } = given;
    drop(store);
    let path = directory.path().join("rooms.redb");
    let healthy = std::fs::read(&path).unwrap();
    let row = healthy
        .windows(8)
        .position(|bytes| bytes == b"user-150")
        .unwrap();
    // The magic number, and one bit of one visitor's name.
    for (at, mask) in [(0, 0xff), (row + 7, 1)] {
        let mut file = healthy.clone();
        file[at] ^= mask;
        std::fs::write(&path, &file).unwrap();
        let error = open_again(directory.path(), &clock).unwrap_err();
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    }
    std::fs::write(&path, healthy).unwrap();
    assert!(
        open_again(directory.path(), &clock).is_ok(),
        "undamaged, it opens"
    );
}

#[tokio::test]
async fn the_file_follows_the_line_and_not_its_history() {
    let given = Given::room(policy()).await;
    given
        .store
        .operate(&given.room, ropeline_store::Operation::Pause)
        .await
        .unwrap();
    let size = || {
        std::fs::metadata(given.directory.path().join("rooms.redb"))
            .unwrap()
            .len()
    };
    let round = async |from: u64| {
        for n in from..from + 500 {
            given.join(&format!("user-{n}")).await;
            given
                .store
                .leave(&given.room, holder(&format!("user-{n}"), n))
                .await
                .unwrap();
        }
    };
    round(1).await;
    let after_first = size();
    for k in 1..6 {
        round(1 + k * 500).await;
    }
    assert_eq!(given.view().waiting(), 0);
    assert!(size() <= after_first * 2, "{} after {after_first}", size());
}

#[tokio::test]
async fn a_header_that_an_earlier_version_wrote_is_read() {
    let given = Given::room(policy()).await;
    let header = given.view().header.clone();
    let mut json = serde_json::to_value(&header).unwrap();
    for field in ["imported_until", "stock", "stock_version"] {
        let removed = json.as_object_mut().unwrap().remove(field);
        assert!(removed.is_some(), "{field}");
    }
    assert_eq!(serde_json::from_value::<Header>(json).unwrap(), header);
}
