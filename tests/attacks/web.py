"""Requests as an attacker sends them: exact bytes in the path, any header, a connection kept if wanted."""

import contextlib
import http.client
import json
import socket
from urllib.parse import urlsplit


class Reply:
    """An answer that has been read to its end."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def ok(self):
        return 200 <= self.status < 300

    def __getitem__(self, name):
        """A member of a JSON object, or None."""
        try:
            return json.loads(self.body)[name]
        except (ValueError, KeyError, TypeError):
            return None

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def cookies(self):
        """The cookies that it sets, as the browser sends them back."""
        lines = [value for key, value in self.headers if key.lower() == "set-cookie"]
        return dict(line.split(";")[0].split("=", 1) for line in lines)


class Web:
    """A server seen from outside. Every request has a connection of its own, unless one is kept."""

    def __init__(self, url):
        self.url = url
        self.address = urlsplit(url).hostname, urlsplit(url).port

    connection = None

    @contextlib.contextmanager
    def kept(self):
        """The same server over one connection."""
        kept = Web(self.url)
        kept.connection = http.client.HTTPConnection(*self.address, timeout=10)
        try:
            yield kept
        finally:
            kept.connection.close()

    def ask(self, method, path, headers=None, json_body=None, form=None):
        body, headers = b"", dict(headers or {})
        if json_body is not None:
            body = json.dumps(json_body).encode()
            headers["Content-Type"] = "application/json"
        if form is not None:
            body = form.encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = self.connection or http.client.HTTPConnection(*self.address, timeout=10)
        named = any(name.lower() == "host" for name in headers)
        connection.putrequest(method, path, skip_host=named, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body or method != "GET":
            connection.putheader("Content-Length", str(len(body)))
        try:
            connection.endheaders(body)
            answer = connection.getresponse()
            return Reply(answer.status, answer.getheaders(), answer.read())
        finally:
            if connection is not self.connection:
                connection.close()

    def get(self, path, headers=None):
        return self.ask("GET", path, headers)

    def post(self, path, json_body=None, headers=None):
        return self.ask("POST", path, headers, json_body)

    def raw(self, pieces, patience=1.0):
        """Sends bytes piece by piece over one connection, and gives all that came back."""
        with socket.create_connection(self.address, timeout=5) as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            answer = b""
            try:
                for piece in pieces:
                    peer.sendall(piece)
                    peer.settimeout(0.05)
                    try:
                        answer += peer.recv(65536)
                    except TimeoutError:
                        pass
                peer.settimeout(patience)
                while chunk := peer.recv(65536):
                    answer += chunk
            except OSError:  # A server may close when it has refused; what came is judged.
                pass
            return answer


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def from_address(address):
    """As a trusted proxy says whom it asks for."""
    return {"X-Forwarded-For": address}


class Buyer:
    """Somebody with a login of the box office."""

    def __init__(self, web, headers=None):
        made = web.post("/user", {"name": "Kim"}, headers)
        self.web, self.extra = web, headers or {}
        self.id, self.made = made["userId"], made.status
        self.login = {**bearer(made["accessToken"]), **self.extra}

    def line_up(self, headers=None):
        path = f"/user/{self.id}/token/generate"
        reply = self.web.get(path, {**self.login, **(headers or {})})
        self.token = reply["token"]
        return reply

    def hold(self, seat):
        return self.web.post(f"/concert/{seat}/reservation", None, {**self.login, "X-Queue-Token": str(self.token)})

    def release(self, reservation):
        return self.web.ask("DELETE", f"/reservation/{reservation}", self.login)

    def charge(self, amount):
        return self.web.ask("PATCH", f"/user/charge/{self.id}/point", self.login, {"amount": amount})

    def pay(self, reservation):
        return self.web.post(f"/user-concert/payment/{self.id}/{reservation}", None, self.login)
