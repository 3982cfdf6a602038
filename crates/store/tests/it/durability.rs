//! The data directory: one owner, checked on opening, as large as the line.

use std::{
    io::{Seek, SeekFrom, Write},
    sync::Arc,
};

use ropeline_store::{EmbeddedStore, OpenError, Store};

use crate::given::{Given, holder, policy};

#[tokio::test]
async fn a_second_process_is_refused_with_a_clear_message() {
    let given = Given::room(policy()).await;
    let error = EmbeddedStore::open(given.directory.path(), given.clock.clone()).unwrap_err();
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
    let store = EmbeddedStore::open(directory.path(), clock).unwrap();
    assert_eq!(store.view(&room).unwrap().view.header.issued.0, 1);
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_left_alone() {
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
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&[0xA5; 64]).unwrap();
    drop(file);
    let before = std::fs::read(&path).unwrap();
    let error = EmbeddedStore::open(directory.path(), clock).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::Damaged { .. } | OpenError::Directory { .. }
        ),
        "{error}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
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
