//! nginx with a recipe of `deploy/`, and a service behind it.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use ropeline_testing::http::Reply;

use crate::{process::Leashed, wait::until};

/// nginx that does not listen by then never will.
const START_MAX: Duration = Duration::from_secs(10);

/// A recipe of `deploy/` with other lines in the place of these.
pub(crate) fn recipe(name: &str, changes: &[(impl AsRef<str>, String)]) -> String {
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");
    let recipe = fs::read_to_string(Path::new(files).join(name)).expect("the recipe is there");
    changes.iter().fold(recipe, |recipe, (written, instead)| {
        let written = written.as_ref();
        assert_eq!(recipe.matches(written).count(), 1, "{written}");
        recipe.replace(written, instead)
    })
}

/// Starts nginx with a recipe and waits until it listens there.
pub(crate) fn start_nginx(directory: &Path, recipe: &str, address: SocketAddr) -> Leashed {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = temporary.map(|name| format!("{name}_temp_path {name};\n"));
    let whole = format!(
        "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\nevents {{}}\n\
         http {{\naccess_log off;\n{}{recipe}}}\n",
        temporary.concat()
    );
    fs::write(directory.join("nginx.conf"), whole).expect("a file in a fresh directory");
    let nginx = Command::new("nginx")
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .arg("-p")
        .arg(directory)
        .args(["-c", "nginx.conf", "-e", "error.log"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("nginx: on Debian, apt-get install nginx-light");
    let nginx = Leashed(nginx);
    until(START_MAX, "nginx listens", || {
        TcpStream::connect(address).ok()
    });
    nginx
}

/// A service that says for whom it was asked. It lives as long as the tests.
pub(crate) fn service() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("it listens");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A visitor who hangs up is no matter of the service.
            answer(stream).ok();
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut request = BufReader::new(stream.try_clone()?);
    let (mut users, mut length, mut line) = (Vec::new(), 0, String::new());
    while request.read_line(&mut line)? > 2 {
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            name if name.starts_with("x-queue-user") => {
                users.push(format!("{name}:{}", value.trim_end()));
            }
            _ => {}
        }
        line.clear();
    }
    io::copy(&mut request.take(length), &mut io::sink())?;
    let body = format!("the service, for {}", users.join(", "));
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[track_caller]
pub(crate) fn sent_to_wait(reply: &Reply, back: &str) {
    let place = format!("/wait/main?return={back}");
    let found = (reply.status, reply.header("location"));
    assert_eq!(found, (302, Some(place.as_str())));
}

#[track_caller]
pub(crate) fn entered(reply: &Reply, user: &str) {
    let body = String::from_utf8_lossy(&reply.body);
    let expected = format!("the service, for x-queue-user: {user}");
    assert_eq!((reply.status, &*body), (200, expected.as_str()));
}
