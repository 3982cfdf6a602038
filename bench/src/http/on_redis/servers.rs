//! Everything that runs while the comparison does.

use ropeline_testing::{Persistence, TestRedis};

use super::{
    super::{Args, OwnServer, Target, product::Product, turns::Turns},
    opponents::Opponents,
    replicated::Replicated,
};
use crate::{Result, progress};

/// All the same for all sides. A rewrite of the log would hit whichever load has its turn.
pub(crate) const OPTIONS: [&str; 4] = [
    "--auto-aof-rewrite-percentage",
    "0",
    // Every slow call of a tick is looked at.
    "--slowlog-max-len",
    "100000",
];

#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) hello: OwnServer,
    pub(crate) opponents: Opponents,
    /// Or why it does not serve.
    pub(crate) ours: std::result::Result<Ours, String>,
}

/// The product, as it is and with a replica to its Redis.
#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) product: Product,
    pub(crate) redis: TestRedis,
    pub(crate) replicated: Replicated,
}

impl Servers {
    pub(crate) fn start(args: &Args, turns: &Turns<'_>) -> Result<Self> {
        let ours = Ours::start(args, turns).map_err(|error| error.to_string());
        if let Err(refused) = &ours {
            progress::step(&format!("Ropeline does not serve on Redis: {refused}"));
        }
        Ok(Self {
            hello: OwnServer::start(&["hello"])?,
            opponents: Opponents::start(args, turns.runtime())?,
            ours,
        })
    }

    /// The end of the products' logs, for whoever reads why the run failed.
    pub(crate) fn last_words(&self) -> String {
        let words = |ours: &Ours| {
            let products = [&ours.product, &ours.replicated.product];
            products.map(Product::last_words).join("\n")
        };
        self.ours.as_ref().map(words).unwrap_or_default()
    }
}

impl Ours {
    fn start(args: &Args, turns: &Turns<'_>) -> Result<Self> {
        let redis = TestRedis::with(Persistence::EverySecond, &OPTIONS);
        Ok(Self {
            product: Product::start(&args.product, &redis.url(), turns.runtime())?,
            replicated: Replicated::start(args, turns.runtime())?,
            redis,
        })
    }

    pub(crate) fn target(&self) -> Target {
        self.product.target().on(self.redis.process())
    }
}
