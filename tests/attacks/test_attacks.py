"""The judge accuses a server that lets everything happen, and believes one that does not."""

import contextlib
import http.server
import itertools
import json
import pathlib
import re
import tempfile
import threading
import types
import unittest

import attacks
from web import Web

KEY = "the-admin-key-of-a-server-that-minds-nothing"


class Pushover(http.server.BaseHTTPRequestHandler):
    """Answers every request as the attacker would like."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    ids, users = itertools.count(1), itertools.count(1)

    def answer(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        number = next(self.ids)
        user = next(self.users) if self.path == "/user" else 0
        seats = [{"seatId": n} for n in range(150)]
        body = json.dumps(
            {"userId": user, "accessToken": f"a.{number}", "token": "t", "ordinal": 1, "issued": 9, "seats": seats,
             "reservationId": number, "code": "NONE"}
        ).encode()
        if self.path == "/admin":
            body = b'<input name="csrf" value="c">'
        self.send_response(201)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "ropeline_login=x; Path=/")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


class Anywhere:
    """A site whose every server minds nothing."""

    def __init__(self, directory):
        self.directory, self.servers = pathlib.Path(directory), []

    def start(self, settings="", arguments=(), directory=None, umask=0, keys=True, listen=""):
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pushover)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        self.servers.append(web)
        data = self.directory / "data"
        data.mkdir(exist_ok=True, mode=0o755)
        (data / "admin.key").unlink(missing_ok=True)
        (data / "admin.key").write_text(KEY)
        url = f"http://127.0.0.1:{web.server_port}"
        return types.SimpleNamespace(
            url=url, web=Web(url), data=data, directory=self.directory, said=f"admin key {KEY}",
            refused_to_start=False, text=lambda name: KEY if name == "admin.key" else "", stop=lambda: None,
        )

    def wait(self, _):
        pass

    def command(self, *_):
        return 0, ""

    def redis(self):
        raise OSError("there is no Redis here")


@contextlib.contextmanager
def anywhere():
    with tempfile.TemporaryDirectory() as directory:
        site = Anywhere(directory)
        try:
            yield site
        finally:
            for server in site.servers:
                server.shutdown()
                server.server_close()


class Judging(unittest.TestCase):
    def test_every_attack_works_on_a_server_that_minds_nothing(self):
        attacks.WRITTEN_BY_S = 0.05
        not_tried = []
        for attack in attacks.ATTACKS:
            if attack is attacks.idle_connections:  # A server without a limit keeps nobody out.
                continue
            with self.subTest(attack.__name__), anywhere() as site:
                holds, said = attacks.judge(attack, site)
                self.assertFalse(holds, said)
                if said.startswith("cannot be carried out"):
                    not_tried.append((attack.__name__, said))
        self.assertEqual([name for name, _ in not_tried], ["version_from_the_future"], not_tried)

    def test_others_who_get_no_answer_beside_idle_connections_are_noticed(self):
        class Full(Anywhere):
            def start(self, *_, **__):
                server = super().start()
                self.servers[-1].shutdown()
                self.servers[-1].server_close()
                return server

        with tempfile.TemporaryDirectory() as directory:
            holds, said = attacks.judge(attacks.idle_connections, Full(directory))
        self.assertFalse(holds, said)

    def test_an_attack_that_breaks_down_proves_nothing(self):
        def broken(_):
            """0: cannot even begin."""
            raise KeyError("x")

        holds, said = attacks.judge(broken, None)
        self.assertEqual((holds, said.split(":")[0]), (False, "cannot be carried out"))

    def test_what_is_refused_is_held(self):
        def refused(_):
            """0: is refused."""
            attacks.held(True, "never said")
            return "1 of 1 refused"

        self.assertEqual(attacks.judge(refused, None), (True, "1 of 1 refused"))

    def test_each_attack_names_its_finding(self):
        numbers = [int(re.match(r"(\d+): ", attack.__doc__).group(1)) for attack in attacks.ATTACKS]
        self.assertEqual(numbers, [n for n in range(1, 20) if n != 7])


if __name__ == "__main__":
    unittest.main()
