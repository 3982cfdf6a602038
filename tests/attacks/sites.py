"""Servers of the attacks' own: real processes with directories of their own, ended when they are no longer needed."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

from web import Web

ADMIN_KEY = "an-admin-key-for-these-attacks-only"
SERVICE_KEY = "a-service-key-for-these-attacks-only"
START_MAX_S = 20


class Started:
    """A running server, and what it has said."""

    def __init__(self, process, directory, said, url):
        self.process, self.directory, self.said, self.url = process, directory, said, url
        self.data = directory / "data"
        self.web = Web(url) if url else None

    @property
    def refused_to_start(self):
        return self.url is None

    def text(self, name):
        path = self.data / name
        return path.read_text() if path.exists() else ""

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Site:
    """Where servers are started. Use it in a `with`: it stops them and takes their directories away."""

    def __init__(self, ropeline):
        self.ropeline = pathlib.Path(ropeline).resolve()
        self.started, self.directories = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in reversed(self.started):
            server.stop()
        for directory in self.directories:
            shutil.rmtree(directory, ignore_errors=True)

    def directory(self):
        made = pathlib.Path(tempfile.mkdtemp(prefix="ropeline-attack-"))
        self.directories.append(made)
        return made

    def start(self, settings="", arguments=(), directory=None, umask=0o022, keys=True, listen="127.0.0.1:0"):
        """A server with the settings of a `ropeline.toml`. Without `keys` it makes an admin key of its own."""
        directory = directory or self.directory()
        (directory / "ropeline.toml").write_text(settings)
        out = open(directory / "out", "wb")
        variables = {"ROPELINE_ADMIN_KEY": ADMIN_KEY, "ROPELINE_SERVICE_KEY": SERVICE_KEY} if keys else {}
        process = subprocess.Popen(
            [self.ropeline, *arguments, "--config", "ropeline.toml", "--data", "data", "--listen", listen],
            cwd=directory,
            env={"PATH": os.environ["PATH"], **variables},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=open(directory / "log", "wb"),
            umask=umask,
        )
        out.close()
        return self.note(process, directory)

    def note(self, process, directory):
        until = time.monotonic() + START_MAX_S
        url = None
        while not url and process.poll() is None and time.monotonic() < until:
            said = (directory / "out").read_text(errors="replace")
            found = re.search(r"listening +(http://\S+)", said)
            url = found and found.group(1)
            time.sleep(0.02)
        said = (directory / "out").read_text(errors="replace") + (directory / "log").read_text(errors="replace")
        server = Started(process, directory, said, url)
        self.started.append(server)
        while url and time.monotonic() < until:
            try:
                if server.web.get("/readyz").ok:
                    break
            except OSError:
                pass
            time.sleep(0.02)
        return server

    def wait(self, seconds):
        time.sleep(seconds)

    def command(self, *arguments):
        """A command that ends by itself: its exit code, and what it said."""
        done = subprocess.run([self.ropeline, *arguments], capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")

    def redis(self):
        """The port of a new Redis."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        directory = self.directory()
        process = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory],
            stdout=subprocess.DEVNULL,
        )
        self.started.append(Started(process, directory, "", None))
        until = time.monotonic() + START_MAX_S
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        return port
