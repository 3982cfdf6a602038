"""Sends damaged HTTP/1.1 requests over raw sockets and judges every answer.

Valid requests of every kind are changed at random: bytes flipped, cut out, repeated, replaced by
awkward text, two requests spliced, the stream split at random places. The same seed sends the same
requests in the same order on each connection.

It fails on an answer of 5xx, on bytes that are no HTTP answer, on memory that keeps growing, and on
a server that stops answering: damaged requests may stay without an answer, so an undamaged
`GET /healthz` is sent each second and at the end.
"""

import argparse
import random
import re
import socket
import sys
import threading
import time

AWKWARD = [
    b"\r\n", b"\n", b"\r", b"\0", b"\r\n\r\n", b"\xff\xfe", b"%2f", b"%5c", b"%00", b"../", b"..%2f",
    b"//", b"\\", b" ", b"\t", b":", b",", b";", b'"', b"{", b"}", b"[" * 200, b"-1", b"0",
    b"18446744073709551615", b"18446744073709551616", b"1e400", b"NaN", b"null", b"\xea\xb0\x80",
    b"\xf0\x9f\x8e\xab", b"A" * 300, b"A" * 9000, b"Content-Length: 5\r\n", b"Content-Length: 0\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n", b"Connection: close\r\n",
    b"Connection: upgrade\r\nUpgrade: h2c\r\n", b"Expect: 100-continue\r\n", b"Host: evil.example\r\n",
    b"Range: bytes=0-\r\n", b"Origin: https://evil.example\r\n", b"Sec-Fetch-Site: cross-site\r\n",
    b"X-Queue-Version: 18446744073709551615\r\n", b"X-Queue-Ahead: 7;ordinal=1208\r\n",
    b"X-Forwarded-For: 203.0.113.9, ,\r\n", b"Accept-Language: ko;q=9,*\r\n", b"5\r\nhello\r\n0\r\n\r\n",
    b"ffffffffffffffff\r\n", b"0;x=y\r\n\r\n", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9.9", b"GET", b"PUT",
]
HEALTH_EVERY_S = 1
HEALTH_PATIENCE_S = 5
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3}) ")


def request(method, path, headers=(), body=None, chunked=False):
    """One valid request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers]
    content = (body or "").encode()
    if chunked:
        lines.append("Transfer-Encoding: chunked")
        content = b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content)
    elif body is not None:
        lines.append(f"Content-Length: {len(content)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def corpus(keys):
    """Valid requests to every kind of route. Places and logins are taken from a live server."""
    json = ("Content-Type", "application/json")
    form = ("Content-Type", "application/x-www-form-urlencoded")
    html = ("Accept", "text/html")
    token = ("X-Queue-Token", keys["token"])
    login = ("Authorization", f"Bearer {keys['login']}")
    admin = ("Authorization", f"Bearer {keys['admin']}")
    service = ("Authorization", f"Bearer {keys['service']}")
    key = ("Idempotency-Key", "0b5c")
    cookie = ("Cookie", f"rl_main={keys['token']}; ropeline_login={keys['login']}")
    rooms, services = "/api/v1/admin/rooms", "/api/v1/service/rooms/main"
    requests = [
        ("POST", "/api/v1/queue/tokens", [json, key], '{"room":"main"}'),
        ("POST", "/api/v1/queue/tokens", [json, login], '{"room":"main","userId":7}'),
        ("GET", "/api/v1/queue/status", [token, ("X-Queue-Version", "3")], None),
        ("GET", "/api/v1/queue/verify", [token], None),
        ("GET", "/api/v1/queue/verify", [cookie, ("X-Original-URI", "/a?b=c")], None),
        ("DELETE", "/api/v1/queue/tokens", [("X-Queue-Token", keys["spare"])], None),
        ("GET", "/wait/main?return=/seats", [html, cookie], None),
        ("POST", "/wait/main/join", [form, cookie], "key=abc&return=%2Fseats"),
        ("POST", "/wait/main/leave", [form, cookie], "return=%2F"),
        ("GET", rooms, [admin], None),
        ("POST", rooms, [admin, json], '{"id":"fuzz","policy":{"every":"5s","batch":5}}'),
        ("PATCH", f"{rooms}/fuzz", [admin, json], '{"batch":7}'),
        ("POST", f"{rooms}/fuzz/admit", [admin, json], '{"count":3}'),
        ("GET", f"{rooms}/main/stats?window=60s", [admin], None),
        ("GET", f"{rooms}/main/visitors/7", [admin], None),
        ("GET", f"{rooms}/main/visitors?userId=7&verified=false", [admin], None),
        ("POST", f"{services}/tokens", [service, json], '{"userId":"42"}'),
        ("POST", f"{services}/verify", [service, json], '{"token":"%s"}' % keys["token"]),
        ("PUT", f"{services}/stock", [service, json], '{"left":12}'),
        ("POST", "/user", [json], '{"name":"Kim"}'),
        ("GET", "/user/1/token/generate", [login], None),
        ("PATCH", "/user/charge/1/point", [login, json, key], '{"amount":1000}'),
        ("GET", "/concert/dates", [token, login], None),
        ("GET", "/concert/1/seats", [token, login], None),
        ("POST", "/concert/1/reservation", [token, login, key], ""),
        ("POST", "/user-concert/payment/1/1", [token, login, key], ""),
        ("GET", "/problems/ROOM_FULL", [html], None),
        ("GET", "/admin", [html], None),
        ("POST", "/admin/login", [form], "key=wrong"),
        ("GET", "/openapi.json", [], None),
        ("GET", "/metrics", [], None),
        ("OPTIONS", "/api/v1/queue/status", [("Origin", "https://a.example")], None),
    ]
    plain = [request(*parts) for parts in requests]
    return plain + [request(*parts, chunked=True) for parts in requests if parts[3] is not None]


def flip(dice, text):
    at = dice.randrange(len(text))
    text[at] ^= 1 << dice.randrange(8)


def cut(dice, text):
    at = dice.randrange(len(text))
    del text[at : at + dice.randrange(1, 40)]


def insert(dice, text):
    at = dice.randrange(len(text) + 1)
    text[at:at] = dice.choice(AWKWARD)


def overwrite(dice, text):
    at = dice.randrange(len(text))
    piece = dice.choice(AWKWARD)
    text[at : at + len(piece)] = piece


def repeat(dice, text):
    at = dice.randrange(len(text))
    piece = text[at : at + dice.randrange(1, 80)]
    text[at:at] = piece * dice.randrange(1, 5)


def insert_header(dice, text):
    end = text.find(b"\r\n")
    headers = [piece for piece in AWKWARD if piece.endswith(b"\r\n") and b": " in piece]
    text[end + 2 : end + 2] = dice.choice(headers)


def damaged(dice, requests):
    text = bytearray(dice.choice(requests))
    if dice.random() < 0.1:
        text += dice.choice(requests)
    for _ in range(dice.choice([0, 1, 1, 2, 3, 6])):
        if text:
            dice.choice([flip, cut, insert, overwrite, repeat, insert_header])(dice, text)
    return bytes(text)


class Record:
    """What all connections have seen."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sent = 0
        self.by_status = {}
        self.failures = []

    def count(self, status):
        with self.lock:
            self.by_status[status] = self.by_status.get(status, 0) + 1

    def fail(self, why, sent):
        with self.lock:
            self.failures.append((why, sent))


def judge(record, sent, answer):
    if answer and not answer.startswith(b"HTTP/1."):
        record.fail(f"no HTTP answer: {answer[:60]!r}", sent)
    for status in map(int, STATUS.findall(answer)):
        record.count(status)
        if status >= 500:
            record.fail(f"answered with {status}: {answer[:300]!r}", sent)


def exchange(dice, address, text):
    """Sends a text in pieces and returns all that came back."""
    with socket.create_connection(address, timeout=10) as peer:
        pieces, at = [], 0
        while at < len(text):
            size = dice.choice([len(text), len(text), 1 + dice.randrange(60)])
            pieces.append(text[at : at + size])
            at += size
        answer = b""
        try:
            for piece in pieces:
                peer.sendall(piece)
            if dice.random() < 0.7:
                peer.shutdown(socket.SHUT_WR)
            # Whatever waits for more bytes than were sent is not worth more patience than this.
            peer.settimeout(0.15)
            while chunk := peer.recv(65536):
                answer += chunk
        except OSError:  # A server may close whenever it has answered; what came is judged.
            pass
        return answer


def run(seed, number, address, requests, until, record):
    dice = random.Random(seed * 1_000 + number)
    while time.monotonic() < until and len(record.failures) < 20:
        text = damaged(dice, requests)
        try:
            answer = exchange(dice, address, text)
        except OSError as error:
            record.fail(f"cannot connect: {error}", text)
            return
        with record.lock:
            record.sent += 1
        judge(record, text, answer)


def check_health(address, record, patience):
    """Sends an undamaged request, which must be answered with 200."""
    try:
        with socket.create_connection(address, timeout=patience) as peer:
            peer.sendall(HEALTH)
            answer = peer.recv(65536)
    except OSError as error:
        record.fail(f"not healthy: {error}", HEALTH)
        return
    status = STATUS.match(answer)
    if not status or status[1] != b"200":
        record.fail(f"not healthy: {answer[:300]!r}", HEALTH)


def watch_health(address, until, record):
    while time.monotonic() < until and len(record.failures) < 20:
        check_health(address, record, HEALTH_PATIENCE_S)
        time.sleep(HEALTH_EVERY_S)


def check_end(address, record, patience):
    """What has to hold after the last damaged request."""
    check_health(address, record, patience)
    if not record.by_status:
        record.fail("no damaged request was answered", b"")


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pid", type=int, required=True, help="of the server, for its memory")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--growth-max-mib", type=float, default=24)
    for key in ("token", "spare", "login", "admin", "service"):
        parser.add_argument(f"--{key}", required=True)
    options = parser.parse_args()

    record, address = Record(), ("127.0.0.1", options.port)
    requests = corpus(vars(options))
    until = time.monotonic() + options.seconds
    threads = [
        threading.Thread(target=run, args=(options.seed, n, address, requests, until, record))
        for n in range(8)
    ]
    threads.append(threading.Thread(target=watch_health, args=(address, until, record)))
    for thread in threads:
        thread.start()
    # The first third fills caches and the line; from there on memory has to stay.
    time.sleep(options.seconds / 3)
    before = resident_kib(options.pid)
    for thread in threads:
        thread.join()
    check_end(address, record, HEALTH_PATIENCE_S)
    grown = (resident_kib(options.pid) - before) / 1024
    if grown > options.growth_max_mib:
        record.fail(f"memory grew by {grown:.1f} MiB in the last two thirds", b"")

    statuses = ", ".join(f"{status}: {n}" for status, n in sorted(record.by_status.items()))
    print(f"{record.sent} requests, seed {options.seed}, memory {grown:+.1f} MiB; {statuses}")
    for why, sent in record.failures[:5]:
        print(f"FAILED: {why}\n  after {sent[:2000]!r}")
    return 1 if record.failures or record.sent < options.seconds else 0


if __name__ == "__main__":
    sys.exit(main())
