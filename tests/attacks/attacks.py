"""The attacks of the security review, repeated: each says whether it was refused, bounded, or works.

    python3 attacks.py ROPELINE [NAME …]        # all, or those named; exit code 1 if any works
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import socket
import stat
import subprocess
import sys
import time
import traceback

from sites import ADMIN_KEY, SERVICE_KEY, Site
from web import Buyer, Web, bearer, from_address

ROOMS = "/api/v1/admin/rooms"
TOKENS = "/api/v1/queue/tokens"
STATUS = "/api/v1/queue/status"
JSON = {"Content-Type": "application/json"}
WIDE = '[rooms.main]\nactive_max = 100000\nevery = "100ms"\npresence_ttl = "0s"\n'
# A proxy on this machine that says whom it asks for, so that one process can be many addresses.
PROXY = 'trusted_proxies = ["127.0.0.1"]\n'
BOX_OFFICE = "[boxoffice]\nenabled = true\n"


# What is written beside an answer is there by then.
WRITTEN_BY_S = 2.0


class Works(Exception):
    """The attack does what the attacker wants."""


def held(condition, said):
    """Goes on if the defence holds, else says what the attacker got."""
    if not condition:
        raise Works(said)


def status(web, token):
    return web.get(STATUS, {"X-Queue-Token": str(token)}).status


def squatting(site):
    """1: a stranger joins under the ids that buyers will have, and ends their places."""
    web = site.start(WIDE + BOX_OFFICE).web
    known = Buyer(web).id
    squatted = {}
    for user in range(known + 1, known + 21):
        joined = web.post(TOKENS, {"userId": str(user)})
        squatted[user] = joined["token"], joined["ordinal"]
    ended, shared = 0, 0
    for _ in range(5):
        victim = Buyer(web)
        lined_up = victim.line_up()
        held(lined_up.ok, f"the real user cannot join: {lined_up.status}")
        token, ordinal = squatted[victim.id]
        shared += lined_up["ordinal"] == ordinal
        web.ask("DELETE", TOKENS, {"X-Queue-Token": str(token)})
        ended += status(web, victim.token) != 200
    held(shared + ended == 0, f"{shared} of 5 buyers were given the stranger's place, {ended} were put out by it")
    return "20 ids squatted, 5 of 5 buyers have places of their own"


def whole_house(site):
    """2: one account hoards seats; one address hoards accounts."""
    limits = "[rate_limits]\njoins_per_minute = 30\n"
    web = site.start(PROXY + WIDE + BOX_OFFICE + limits).web
    first = Buyer(web)
    first.line_up()
    seats = [seat["seatId"] for seat in web.get("/concert/1/seats", {"X-Queue-Token": first.token})["seats"]]
    taken = [first.hold(seat) for seat in seats[:12]]
    count = sum(hold.ok for hold in taken)
    held(1 <= count <= 4, f"one account holds {count} of 12 seats of a date")
    held(first.release(taken[0]["reservationId"]).ok, "a hold cannot be given up")
    held(not first.hold(seats[0]).ok, "a seat that was given up is held again at once")
    rival = Buyer(web)
    rival.line_up()
    held(rival.hold(seats[0]).ok, "others cannot take the seat")
    churner = Buyer(web)
    churner.line_up()
    holds = 0
    for seat in seats[20:48]:
        hold = churner.hold(seat)
        holds += hold.ok
        if hold.ok:
            churner.release(hold["reservationId"])
    held(1 <= holds <= 20, f"one account made {holds} holds in a moment")
    accounts = sum(web.post("/user", {"name": "Bot"}, from_address("198.51.100.9")).ok for _ in range(60))
    held(accounts <= 31, f"one address made {accounts} accounts with a limit of 30 a minute")
    return f"one account: {count} seats, {holds} holds a minute; one address: {accounts} accounts a minute"


def own_address():
    """An address of this machine other than loopback, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.2"


def ask(address, port, source):
    """A connection that has asked once."""
    peer = socket.create_connection((address, port), 3, source_address=(source, 0))
    peer.sendall(f"GET /healthz HTTP/1.1\r\nHost: {address}:{port}\r\n\r\n".encode())
    return peer


def is_answered(peer):
    try:
        return peer.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def idle_connections(site):
    """3: one address opens more connections than the server takes, asks once on each, and leaves them idle."""
    server = site.start(WIDE + "[limits]\nconnections_max = 200\n", listen="0.0.0.0:0")
    address, port = own_address(), int(server.url.rsplit(":", 1)[1])
    peers = [ask(address, port, address) for _ in range(260)]
    site.wait(0.5)
    # More than any reserve for this machine, from addresses that have one connection each.
    others, tried = 0, 0
    for n in range(60):
        peers.append(ask("127.0.0.1", port, f"127.0.1.{n + 1}"))
        others, tried = others + is_answered(peers[-1]), tried + 1
        if tried - others > 2:
            break
    for peer in peers:
        peer.close()
    held(others == tried, f"{tried - others} of {tried} others got no answer beside 260 idle connections, room for 200")
    return f"beside 260 idle connections of one address, with room for 200, {others} of {tried} others are answered"


def wide_prefix(site):
    """4: joins from many /64 of one /48."""
    web = site.start(PROXY + WIDE + "[rate_limits]\njoins_per_minute = 10\n").web
    tries = 2_000
    with web.kept() as kept:
        joined = sum(kept.post(TOKENS, None, from_address(f"2001:db8:7:{n:x}::1")).ok for n in range(tries))
    held(joined > 0, "nobody can join from IPv6")
    held(joined <= tries / 4, f"{joined} of {tries} joins from one /48 with a limit of 10 a minute for an address")
    other = web.post(TOKENS, None, from_address("2001:db8:8::1")).status
    held(other == 201, f"another /48 is refused too: {other}")
    return f"{joined} of {tries} joins from one /48 with a limit of 10 a minute for an address"


def late_payment(site):
    """5: holds are paid long after they ran out."""
    rules = f'{BOX_OFFICE}hold_ttl = "5s"\nlate_payment = "1s"\n'
    web = site.start(WIDE + rules).web
    buyer = Buyer(web)
    buyer.line_up()
    held(buyer.charge(10_000_000).ok, "points cannot be charged")
    seats = web.get("/concert/1/seats", {"X-Queue-Token": buyer.token})["seats"]
    holds = [buyer.hold(seat["seatId"]) for seat in seats[:4]]
    held(all(hold.ok for hold in holds), "seats cannot be held")
    site.wait(6.5)
    paid = [buyer.pay(hold["reservationId"]) for hold in holds]
    count = sum(payment.ok for payment in paid)
    held(count == 0, f"{count} of 4 holds were paid 1.5 s after the hold and its grace were over")
    held({payment["code"] for payment in paid} == {"HOLD_EXPIRED"}, f"they are refused with {paid[0]['code']}")
    return "0 of 4 holds that were over could be paid"


def box_office_apart(site, settings=""):
    """A room, and a box office of its own before it."""
    room = site.start(PROXY + WIDE + settings)
    arguments = ("boxoffice", "--gate", room.url)
    return room, site.start(PROXY + settings + BOX_OFFICE, arguments)


def key_guesses(site):
    """6: keys are guessed at full speed, at the room and at a box office of its own."""
    room, office = box_office_apart(site, "[rate_limits]\nadmin_failures_per_minute = 20\njoins_per_minute = 30\n")
    said = []
    for name, web, path, body in [
        ("admin key at the room", room.web, f"{ROOMS}/main/pause", None),
        ("service key at the room", room.web, "/api/v1/service/rooms/main/verify", None),
        ("admin key at the box office", office.web, "/api/v1/admin/concerts", {"title": "x"}),
    ]:
        guesses = 400
        attacker = from_address("198.51.100.7")
        with web.kept() as kept:
            keys = (bearer(f"guess-{n:030}") for n in range(guesses))
            answers = [kept.post(path, body, {**key, **attacker}).status for key in keys]
        judged, stopped = answers.count(401), answers.count(429)
        held(judged <= 25 and judged + stopped == guesses, f"{name}: {judged} of {guesses} guesses were judged")
        said.append(f"{name}: {judged} of {guesses}")
    accounts = sum(office.web.post("/user", {"name": "Bot"}, from_address("198.51.100.8")).ok for _ in range(60))
    held(accounts <= 31, f"one address made {accounts} accounts at the box office with a limit of 30 a minute")
    return f"guesses judged: {', '.join(said)}; accounts of one address: {accounts}"


HIDDEN = [
    "/api/v1/admin/rooms/..%2f..%2f..%2f..%2fwait%2fx/reset",
    "/api/v1/admin/rooms/main%2fpause",
    "/api/v1/admin/rooms/..%5c..%5cx/reset",
    "/api/v1/admin/rooms/%2e%2e/%2e%2e/x",
    "/api/v1/admin/rooms/../rooms/main/pause",
    "/api/v1/admin/rooms/main/visitors/..%2f..%2fmain",
    "/api/v1/service/rooms/..%2f..%2fmain/verify",
    "/api/v1/service/rooms/%2e%2e/verify",
]


def encoded_paths(site):
    """8: encoded paths reach the admin API past a proxy, tell right keys from wrong ones, and lock operators out."""
    web = site.start(WIDE).web
    for path in HIDDEN:
        keys = (ADMIN_KEY, SERVICE_KEY, "a-wrong-key-of-some-length", "")
        answers = {web.post(path, None, bearer(key) if key else {}).status for key in keys}
        held(answers <= {400, 404}, f"{path} is answered with {sorted(answers)}")
        held(len(answers) == 1, f"{path} tells keys apart: {sorted(answers)}")
    for n in range(60):
        path = HIDDEN[n % len(HIDDEN)]
        web.post(path, None, bearer(f"guess-{n:030}"))
    operator = web.get(ROOMS, bearer(ADMIN_KEY)).status
    held(operator == 200, f"after 60 wrong keys in hidden paths the right key is answered with {operator}")
    for n in range(60):
        web.get(ROOMS, bearer(f"guess-{n:030}"))
    operator = web.get(ROOMS, bearer(ADMIN_KEY)).status
    held(operator == 200, f"after 60 wrong keys from the same address the right key is answered with {operator}")
    return f"{len(HIDDEN)} hidden paths refused alike for every key; 120 wrong keys lock no operator out"


def cookie_tossing(site):
    """9: a sibling domain puts its own login cookie before the visitor's."""
    web = site.start(WIDE + BOX_OFFICE).web
    attacker, victim = Buyer(web), Buyer(web)
    logins = [buyer.login["Authorization"].split()[1] for buyer in (attacker, victim)]
    for pair in (logins, logins[::-1]):
        cookie = {"Cookie": f"ropeline_login={pair[0]}; ropeline_login={pair[1]}"}
        for buyer in (attacker, victim):
            answer = web.get(f"/user/{buyer.id}/point", cookie).status
            held(answer in (401, 403), f"of two logins one was taken: {answer}")
            held(answer == 401, "two logins count as one of them")
    https = site.start(f'public_url = "https://tickets.example.com"\n{WIDE}{BOX_OFFICE}').web
    host = {"Host": "tickets.example.com"}
    made = https.post("/user", {"name": "Kim"}, host)
    names = sorted(made.cookies())
    held(names == ["__Host-ropeline_login"], f"over https the cookie is called {names}")
    tossed = {**host, "Cookie": f"ropeline_login={made['accessToken']}"}
    answer = https.get(f"/user/{made['userId']}/point", tossed).status
    held(answer == 401, "over https a login cookie without __Host- is taken")
    return "two logins count as none; over https only __Host-ropeline_login is taken"


def framing(site):
    """10: a request that two servers read differently is hidden behind an odd chunk size."""
    web = site.start(WIDE).web
    head = b"POST /api/v1/queue/tokens HTTP/1.1\r\nHost: x.localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    host = web.url.split("//")[1].encode()
    head = head.replace(b"x.localhost", host)
    bare = b"GET /healthz HTTP/1.1\nHost: " + host + b"\n\n"
    both = (
        b"POST /api/v1/queue/tokens HTTP/1.1\r\nHost: " + host
        + b"\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    )
    body = b'{"room":"main"}'
    sizes = {
        "honest": [b"%x\r\n" % len(body)],
        "padded": [b"0" * 80 + b"%x\r\n" % len(body)],
        "padded and split": [b"0" * 70, b"0" * 10 + b"%x" % len(body), b"\r\n"],
        "with an extension": [b"%x;" % len(body) + b"x" * 100, b"=0\r\n"],
        "too large": [b"1" + b"0" * 16 + b"%x\r\n" % len(body)],
        "split in digits": [b"", b"%x" % len(body), b"\r", b"\n"],
    }
    tried = 0
    for name, size in sizes.items():
        for what, hidden in (("a bare line feed", bare), ("two lengths", both)):
            answer = web.raw([head, *size, body + b"\r\n0\r\n\r\n", hidden])
            codes = [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3})", answer)]
            held(name != "honest" or codes[:1] == [201], f"an honest request is answered with {codes}")
            # The first may be refused or answered; the hidden one may never be served.
            held(len(codes) <= 2 and all(code >= 400 for code in codes[1:]), f"{what} behind a size {name}: {codes}")
            tried += 1
    return f"{tried} hidden requests behind odd chunk sizes, none served"


def token_by_get(site):
    """11: places are taken and given up without end through GET …/token/generate."""
    web = site.start(PROXY + WIDE + BOX_OFFICE + "[rate_limits]\njoins_per_minute = 30\n").web
    address = from_address("198.51.100.11")
    buyer = Buyer(web, address)
    joins = 0
    for _ in range(200):
        joined = buyer.line_up()
        joins += joined.ok
        if joined.ok:
            web.ask("DELETE", TOKENS, {"X-Queue-Token": buyer.token, **address})
    held(joins <= 31, f"{joins} of 200 joins with a limit of 30 a minute")
    posted = web.post(f"/user/{buyer.id}/token/generate", None, buyer.login).status
    held(posted in (405, 429), f"POST on the same path is answered with {posted}")
    return f"{joins} of 200 joins with a limit of 30 a minute"


def version_from_the_future(site):
    """12: a version that nobody can have seen makes every poll ask Redis."""
    port = site.redis()
    one_inside = WIDE.replace("100000", "1")
    web = site.start(f'store = "redis://127.0.0.1:{port}"\n{one_inside}').web

    def commands():
        answer = subprocess.run(
            ["redis-cli", "-p", str(port), "INFO", "stats"], capture_output=True, check=True, text=True
        ).stdout
        return int(re.search(r"total_commands_processed:(\d+)", answer).group(1))

    web.post(TOKENS, None)
    # Somebody who waits: nodes answer them from memory.
    token = web.post(TOKENS, None)["token"]

    def poll(headers):
        asked, until = 0, time.monotonic() + 2
        with web.kept() as kept:
            while time.monotonic() < until:
                held(kept.get(STATUS, {"X-Queue-Token": token, **headers}).status == 200, "the place is gone")
                asked += 1
        return asked

    def rate(headers):
        before, started = commands(), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            asked = sum(pool.map(poll, [headers] * 4))
        took = time.monotonic() - started
        return (commands() - before) / took, asked / took

    quiet, _ = rate({})
    said = []
    for version in (2**64 - 1, 10**12):
        busy, polls = rate({"X-Queue-Version": str(version)})
        held(busy <= quiet + 50, f"{busy:.0f} Redis commands/s from {polls:.0f} polls/s of one token, quiet {quiet:.0f}")
        said.append(f"{busy:.0f}/s at {polls:.0f} polls/s")
    return f"Redis commands: quiet {quiet:.0f}/s, attacked {', '.join(said)}"


def audit_gaps(site):
    """13: what is done with a key leaves no line."""
    server = site.start(WIDE + BOX_OFFICE)
    web = server.web
    operator, service = bearer(ADMIN_KEY), bearer(SERVICE_KEY)
    done = {
        "a room is paused": lambda: web.post(f"{ROOMS}/main/pause", None, operator),
        "a room is resumed": lambda: web.post(f"{ROOMS}/main/resume", None, operator),
        "a concert is made": lambda: web.post("/api/v1/admin/concerts", {"title": "Winter"}, operator),
        "dates are made": lambda: web.post(
            "/api/v1/admin/concerts/2/dates",
            {"startsAt": "2031-01-16T10:00:00Z", "seats": [{"number": 1, "to": 5, "price": 1000}]},
            operator,
        ),
        "a wrong key logs in": lambda: web.ask("POST", "/admin/login", form="key=wrong"),
        "an operator logs in": lambda: web.ask("POST", "/admin/login", form=f"key={ADMIN_KEY}"),
        "a wrong key asks": lambda: web.get(ROOMS, bearer("a-wrong-key-of-some-length")),
    }
    # Calls of services are counted: they have one line in a minute, or at the stop.
    counted = {
        "join": lambda: web.post("/api/v1/service/rooms/main/tokens", {"userId": "42"}, service),
        "stock": lambda: web.ask("PUT", "/api/v1/service/rooms/main/stock", service, {"left": 7}),
    }
    missing = []
    for name, act in done.items():
        before = len(server.text("audit.log").splitlines())
        act()
        until = time.monotonic() + WRITTEN_BY_S
        while len(server.text("audit.log").splitlines()) == before and time.monotonic() < until:
            time.sleep(0.02)
        if len(server.text("audit.log").splitlines()) == before:
            missing.append(name)
    for call in counted.values():
        call()
    server.stop()
    lines = [json.loads(line) for line in server.text("audit.log").splitlines()]
    calls = [line["details"] for line in lines if line["action"] == "service"]
    missing += [f"a service calls {name}" for name in counted if not any(call.get(name) for call in calls)]
    held(not missing, f"no line when {', '.join(missing)}")
    log = server.data / "audit.log"
    code, said = site.command("audit", "verify", "--data", str(server.data))
    held(code == 0, f"`ropeline audit verify` of an honest log: {code}, {said[:100]!r}")
    lines = log.read_text().splitlines(keepends=True)
    for name, forged in (("changed", [lines[0].replace("pause", "reset", 1), *lines[1:]]), ("left out", lines[:1] + lines[2:])):
        log.write_text("".join(forged))
        code, _ = site.command("audit", "verify", "--data", str(server.data))
        held(code != 0, f"`ropeline audit verify` does not see that a line was {name}")
    return f"all of {len(done) + len(counted)} actions are in the log; a changed and a missing line are seen"


def logout(site):
    """14: a session of an operator is good after logout."""
    web = site.start(WIDE).web
    login = web.ask("POST", "/admin/login", form=f"key={ADMIN_KEY}")
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in login.cookies().items())}
    page = web.get("/admin", cookie).body.decode()
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)
    held(csrf is not None, "an operator cannot log in")
    csrf = csrf.group(1).replace("&#x2f;", "/")
    session = {**cookie, "X-CSRF-Token": csrf}
    held(web.get(ROOMS, session).status == 200, "a session cannot look at the rooms")
    web.ask("POST", "/admin/logout", cookie, form=f"csrf={csrf}")
    after = web.get(ROOMS, session).status, web.post(f"{ROOMS}/main/pause", None, session).status
    held(after == (401, 401), f"after logout the session is answered with {after}")
    return "after logout the session is refused"


def rights(path):
    return stat.S_IMODE(path.stat().st_mode)


def file_rights(site):
    """15: others on the machine read the files; a key that others can read, or a link, is taken."""
    server = site.start(WIDE, umask=0, keys=False)
    server.web.post(TOKENS, None)
    server.web.post(f"{ROOMS}/main/pause", None, bearer(server.text("admin.key").strip()))
    held(rights(server.data) == 0o700, f"the data directory has mode {rights(server.data):o}")
    for path in sorted(server.data.rglob("*")):
        if path.is_file():
            held(rights(path) & 0o077 == 0, f"{path.name} has mode {rights(path):o}")
    files = sum(path.is_file() for path in server.data.rglob("*"))
    server.stop()
    (server.data / "admin.key").chmod(0o644)
    again = site.start(WIDE, directory=server.directory, keys=False)
    held(again.refused_to_start, "an admin.key that others can read is taken")
    (server.data / "admin.key").rename(server.directory / "elsewhere")
    (server.directory / "elsewhere").chmod(0o600)
    (server.data / "admin.key").symlink_to(server.directory / "elsewhere")
    again = site.start(WIDE, directory=server.directory, keys=False)
    held(again.refused_to_start, "an admin.key that is a link is followed")
    (server.data / "admin.key").unlink()
    (server.directory / "elsewhere").rename(server.data / "admin.key")
    target = server.directory / "somebody-elses-file"
    target.write_text("")
    (server.data / "audit.log").unlink(missing_ok=True)
    (server.data / "audit.log").symlink_to(target)
    again = site.start(WIDE, directory=server.directory, keys=False)
    if not again.refused_to_start:
        again.web.post(f"{ROOMS}/main/resume", None, bearer(again.text("admin.key").strip()))
    held(target.read_text() == "", "an audit.log that is a link is followed")
    return f"{files} files for their owner alone with umask 0; an open key and links are refused"


def foreign_host(site):
    """16: a name that an attacker points at the server is served (DNS rebinding)."""
    plain = site.start(WIDE)
    public = site.start(f'public_url = "https://tickets.example.com"\n{WIDE}')
    evil = {"Host": "evil.example", "Origin": "http://evil.example"}
    for name, web in (("without", plain.web), ("with", public.web)):
        for path in (TOKENS, "/admin/login"):
            answer = web.ask("POST", path, evil, form="key=x").status
            held(answer == 421, f"{name} public_url `Host: evil.example` is answered with {answer} at {path}")
    port = plain.url.rsplit(":", 1)[1]
    for host in (f"localhost:{port}", f"127.0.0.1:{port}"):
        answer = plain.web.post(TOKENS, None, {"Host": host}).status
        held(answer == 201, f"`Host: {host}` is answered with {answer}")
    answer = public.web.post(TOKENS, None, {"Host": "tickets.example.com"}).status
    held(answer == 201, f"the host of public_url is answered with {answer}")
    return "other hosts get 421, with and without public_url"


def cross_site_get(site):
    """17: a link of another site joins whoever is logged in."""
    web = site.start(WIDE + BOX_OFFICE).web
    made = web.post("/user", {"name": "Kim"})
    cookie = "; ".join(f"{name}={value}" for name, value in made.cookies().items())
    path = f"/user/{made['userId']}/token/generate"
    link = {"Cookie": cookie, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for where in ("cross-site", "same-site"):
        answer = web.get(path, {**link, "Sec-Fetch-Site": where}).status
        held(answer == 403, f"a {where} link is answered with {answer}")
    found = web.get(f"{ROOMS}/main", bearer(ADMIN_KEY))
    held(found["issued"] == 0, "the link has joined")
    own = web.get(path, {**link, "Sec-Fetch-Site": "same-origin"}).status
    held(own in (200, 201), f"a page of our own is answered with {own}")
    return "links of other sites are refused, and nobody has joined"


def foreign_key(site):
    """18: an Idempotency-Key that somebody else has used blocks its owner."""
    web = site.start(WIDE).web
    key = {"Idempotency-Key": "order-1"}
    mallory = web.post(TOKENS, {"userId": "mallory"}, key)
    alice = web.post(TOKENS, {"userId": "alice"}, key)
    held(mallory.ok, "nobody can join with a key")
    held(alice.status == 201, f"alice with a key that mallory has used: {alice.status} {alice['code']}")
    held(alice["ordinal"] != mallory["ordinal"], "alice has mallory's place")
    again = web.post(TOKENS, {"userId": "alice"}, key)
    held(again["ordinal"] == alice["ordinal"], f"alice repeats her join: {again.status}")
    return "the same key of two users gives two places"


def key_in_the_log(site):
    """19: the admin key is written where logs are collected."""
    server = site.start(WIDE, keys=False)
    key = server.text("admin.key").strip()
    held(len(key) >= 16, "no admin key was made")
    held(key not in server.said, "the first start writes the admin key to what is not a terminal")
    held("admin.key" in server.said, "the first start does not say where the admin key is")
    server.stop()
    again = site.start(WIDE, directory=server.directory, keys=False)
    held(key not in again.said and "admin.key" in again.said, "a later start does not say where the admin key is")
    return "every start says where the key is, and not the key"


ATTACKS = [
    squatting,
    whole_house,
    idle_connections,
    wide_prefix,
    late_payment,
    key_guesses,
    encoded_paths,
    cookie_tossing,
    framing,
    token_by_get,
    version_from_the_future,
    audit_gaps,
    logout,
    file_rights,
    foreign_host,
    cross_site_get,
    foreign_key,
    key_in_the_log,
]


def judge(attack, site):
    """Whether the defence holds, and what was seen. An attack that cannot be carried out proves nothing."""
    try:
        return True, attack(site)
    except Works as works:
        return False, str(works)
    except Exception as error:  # Whatever goes wrong is not a defence.
        where = traceback.extract_tb(error.__traceback__)[-1]
        return False, f"cannot be carried out: {error!r} at {where.name}:{where.lineno}"


def carry_out(ropeline, attack):
    started = time.monotonic()
    with Site(ropeline) as site:
        holds, said = judge(attack, site)
    return holds, said, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("ropeline", type=pathlib.Path, help="the binary")
    parser.add_argument("names", nargs="*", metavar="NAME", help="attacks, where not all")
    options = parser.parse_args()
    known = {attack.__name__: attack for attack in ATTACKS}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no attack is called {unknown[0]}; there are {', '.join(known)}")
    chosen = [known[name] for name in options.names] or ATTACKS
    # Two at a time: most of them wait.
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda attack: carry_out(options.ropeline, attack), chosen))
    for attack, (holds, said, seconds) in zip(chosen, results):
        number = attack.__doc__.split(":")[0]
        print(f"{'held ' if holds else 'WORKS'} {number:>2} {attack.__name__}: {said} ({seconds:.1f} s)")
    works = sum(not holds for holds, _, _ in results)
    print(f"{len(results) - works} of {len(results)} attacks refused or bounded")
    return 1 if works else 0


if __name__ == "__main__":
    sys.exit(main())
