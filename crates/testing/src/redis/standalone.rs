//! One server without replicas, at an address of its own.

use std::ops::{Deref, DerefMut};

use super::{
    Persistence,
    addresses::Addresses,
    servers::{Clocks, TestServers, start_server},
};

/// A server that nobody replaces. Unlike [`super::TestRedis`] it has an address of its own, so that clients can be cut
/// off from it, and a clock that can be moved.
#[derive(Debug)]
pub struct TestStandalone {
    servers: TestServers,
    _addresses: Addresses,
}

impl TestStandalone {
    /// A server that answers.
    pub fn with(persistence: Persistence, clocks: Clocks) -> Self {
        let addresses = Addresses::claim();
        let server = start_server(addresses.nth(0), persistence, clocks, &[]);
        Self {
            servers: TestServers::of(vec![server]),
            _addresses: addresses,
        }
    }

    /// Its address as `--store` takes it.
    pub fn url(&self) -> String {
        format!("redis://{}/", self.address(0))
    }
}

impl Deref for TestStandalone {
    type Target = TestServers;

    fn deref(&self) -> &TestServers {
        &self.servers
    }
}

impl DerefMut for TestStandalone {
    fn deref_mut(&mut self) -> &mut TestServers {
        &mut self.servers
    }
}
