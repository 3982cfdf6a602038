//! The product on a Redis that has a replica, which must have each join before it is answered.

use std::{
    thread,
    time::{Duration, Instant},
};

use ropeline_testing::{Persistence, TestRedis};
use tokio::runtime::Runtime;

use super::{
    super::{Args, Target, product::Product},
    servers::OPTIONS,
};
use crate::Result;

/// `WAIT 1` behind every call, and nothing is taken while there is no replica.
const SETTINGS: &str = "durability = \"strict\"\n";

/// An empty replica has everything in far less.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Replicated {
    pub(crate) product: Product,
    master: TestRedis,
    _replica: TestRedis,
}

impl Replicated {
    pub(crate) fn start(args: &Args, runtime: &Runtime) -> Result<Self> {
        let master = TestRedis::with(Persistence::EverySecond, &OPTIONS);
        let of = format!("127.0.0.1 {}", master.port());
        let mut options = OPTIONS.to_vec();
        options.extend(["--replicaof", &of, "--repl-diskless-sync-delay", "0"]);
        let replica = TestRedis::with(Persistence::EverySecond, &options);
        wait_until_followed(&master)?;
        Ok(Self {
            product: Product::start_with(&args.product, &master.url(), SETTINGS, runtime)?,
            master,
            _replica: replica,
        })
    }

    pub(crate) fn target(&self) -> Target {
        self.product.target().on(self.master.process())
    }
}

fn wait_until_followed(master: &TestRedis) -> Result<()> {
    let deadline = Instant::now() + FOLLOWS_WITHIN;
    while !master
        .cli(&["INFO", "replication"])
        .contains("state=online")
    {
        if Instant::now() > deadline {
            return Err("the replica does not follow its master".into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
