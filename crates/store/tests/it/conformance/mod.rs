//! The stories that every store is told, told to ours.

mod fixtures;
mod liars;

mod on_files {
    use super::fixtures::OnFiles;

    ropeline_store::conformance_tests!(OnFiles::start());
}

mod on_redis {
    use ropeline_testing::TestRedis;

    use super::fixtures::OnRedis;

    ropeline_store::conformance_tests!(OnRedis::start(TestRedis::on_no_disk()).await);
}

mod on_sentinels {
    use ropeline_testing::TestSentinels;

    use super::fixtures::OnRedis;

    ropeline_store::conformance_tests!(in_turn: OnRedis::start(TestSentinels::start()).await);
}

mod on_a_cluster {
    use ropeline_testing::TestCluster;

    use super::fixtures::OnRedis;

    ropeline_store::conformance_tests!(in_turn: OnRedis::start(TestCluster::start()).await);
}
