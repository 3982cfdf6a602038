//! The stories that every store is told, told to ours.

mod fixtures;
mod liars;

mod on_files {
    use super::fixtures::OnFiles;

    ropeline_store::conformance_tests!(OnFiles::start());
}

mod on_redis {
    use super::fixtures::OnRedis;

    ropeline_store::conformance_tests!(OnRedis::start().await);
}
