//! Certificates of an authority that nobody else trusts.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// An authority of the test's own, and a server's certificate from it for `localhost` and 127.0.0.1.
#[derive(Debug)]
pub struct TestCertificates {
    directory: TempDir,
}

impl TestCertificates {
    /// Has `openssl` make them.
    pub fn make() -> Self {
        let directory = tempfile::tempdir().expect("a directory for certificates");
        let path = directory.path();
        let made = |arguments: &str| openssl(path, arguments);
        made("req -x509 -subj /CN=authority -keyout authority.key -out authority.pem");
        made(
            "req -x509 -subj /CN=localhost -keyout server.key -out server.pem \
             -CA authority.pem -CAkey authority.key \
             -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE",
        );
        Self { directory }
    }

    /// The authority's own certificate, as `SSL_CERT_FILE` names it.
    pub fn authority(&self) -> PathBuf {
        self.directory.path().join("authority.pem")
    }

    /// What makes a Redis speak TLS on a port, beside the other without.
    pub fn redis_options(&self, port: u16) -> Vec<String> {
        let file = |name| self.directory.path().join(name).display().to_string();
        [
            "--tls-port",
            &port.to_string(),
            "--tls-cert-file",
            &file("server.pem"),
            "--tls-key-file",
            &file("server.key"),
            "--tls-ca-cert-file",
            &file("authority.pem"),
            "--tls-auth-clients",
            "no",
        ]
        .map(str::to_owned)
        .to_vec()
    }
}

fn openssl(directory: &Path, arguments: &str) {
    let status = Command::new("openssl")
        .args(arguments.split_whitespace())
        .args("-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 2".split(' '))
        .current_dir(directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("openssl is installed (./test does it)");
    assert!(status.success(), "openssl {arguments}");
}
