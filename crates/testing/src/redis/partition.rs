//! Cuts the network between servers, and between them and their clients.

use std::{
    io::Write,
    net::Ipv4Addr,
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

static CUTS: AtomicU32 = AtomicU32::new(0);

/// Who is on one side of a cut.
///
/// A server of a group is told by its address, from which it also calls the others. A client calls from 127.0.0.1
/// like everybody else, and is told by the Unix group that its process was started in
/// ([`std::os::unix::process::CommandExt::gid`]).
#[derive(Debug, Clone, Default)]
pub struct Side {
    addresses: Vec<Ipv4Addr>,
    groups: Vec<u32>,
}

impl Side {
    /// Clients only, each process in one of these Unix groups.
    pub fn groups(groups: &[u32]) -> Self {
        Self::default().and_groups(groups)
    }

    /// The same with clients, each process in one of these Unix groups.
    #[must_use]
    pub fn and_groups(mut self, groups: &[u32]) -> Self {
        self.groups.extend_from_slice(groups);
        self
    }
}

impl From<&[Ipv4Addr]> for Side {
    fn from(addresses: &[Ipv4Addr]) -> Self {
        Self {
            addresses: addresses.to_vec(),
            groups: Vec::new(),
        }
    }
}

impl<const N: usize> From<&[Ipv4Addr; N]> for Side {
    fn from(addresses: &[Ipv4Addr; N]) -> Self {
        addresses[..].into()
    }
}

/// A network that is cut in two while this lives; packets vanish as in a cable that was cut.
///
/// Connections stay open on both sides and fall silent. Clients are cut off from servers and not from each other.
/// A server may be heard once more by a client that has not spoken since the cut: the filter learns from what the
/// client sends which connections are its own.
#[derive(Debug)]
pub struct Cut {
    table: String,
}

impl Cut {
    /// Cuts the sides off from each other.
    ///
    /// # Panics
    /// Unless `nft` is installed and this process may use it.
    pub fn between(one: impl Into<Side>, other: impl Into<Side>) -> Self {
        let nth = CUTS.fetch_add(1, Ordering::Relaxed);
        let table = format!("ropeline_testing_{}_{nth}", std::process::id());
        apply(&rules(&table, &one.into(), &other.into()))
            .expect("nft is missing or not allowed: install nftables and run as root");
        Self { table }
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        apply(&format!("delete table ip {}\n", self.table)).ok();
    }
}

fn rules(table: &str, one: &Side, other: &Side) -> String {
    let mut lines = servers_apart(&one.addresses, &other.addresses);
    lines.extend(clients_apart(&one.groups, &other.addresses));
    lines.extend(clients_apart(&other.groups, &one.addresses));
    format!(
        "table ip {table} {{
  set theirs {{ type ipv4_addr . inet_service . ipv4_addr . inet_service; flags dynamic; }}
  chain output {{
    type filter hook output priority filter; policy accept;
    {}
  }}
}}
",
        lines.join("\n    ")
    )
}

fn servers_apart(one: &[Ipv4Addr], other: &[Ipv4Addr]) -> Vec<String> {
    if one.is_empty() || other.is_empty() {
        return Vec::new();
    }
    let (one, other) = (list(one), list(other));
    vec![
        format!("ip saddr {one} ip daddr {other} drop"),
        format!("ip saddr {other} ip daddr {one} drop"),
    ]
}

/// Drops what clients send, and what is sent back on the connections that they sent it on.
fn clients_apart(groups: &[u32], servers: &[Ipv4Addr]) -> Vec<String> {
    if groups.is_empty() || servers.is_empty() {
        return Vec::new();
    }
    let (groups, servers) = (list(groups), list(servers));
    vec![
        format!(
            "meta skgid {groups} ip daddr {servers} meta l4proto tcp \
             add @theirs {{ ip saddr . tcp sport . ip daddr . tcp dport }} drop"
        ),
        "ip daddr . tcp dport . ip saddr . tcp sport @theirs drop".to_owned(),
    ]
}

fn list(of: &[impl ToString]) -> String {
    let of: Vec<_> = of.iter().map(ToString::to_string).collect();
    format!("{{ {} }}", of.join(", "))
}

fn apply(rules: &str) -> Result<(), String> {
    // Debian keeps it out of the way of other users than root.
    let program = ["/usr/sbin/nft", "/sbin/nft"];
    let program = program
        .iter()
        .find(|path| std::path::Path::new(path).exists());
    let mut nft = Command::new(program.unwrap_or(&"nft"))
        .args(["-f", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut input = nft.stdin.take().expect("it is piped");
    input
        .write_all(rules.as_bytes())
        .map_err(|error| error.to_string())?;
    drop(input);
    let output = nft.wait_with_output().map_err(|error| error.to_string())?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or(complaint)
}
