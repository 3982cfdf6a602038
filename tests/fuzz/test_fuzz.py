"""The fuzzer notices a server that fails."""

import os
import socket
import socketserver
import threading
import time
import unittest
from unittest import mock

import fuzz

KEYS = {"token": "t", "spare": "s", "login": "l", "admin": "a", "service": "k"}


def failures(answer):
    """What the fuzzer reports about a server that always answers so; `None` is no answer at all."""
    done = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            try:
                self.request.recv(65536)
                if answer is None:
                    done.wait()
                else:
                    self.request.sendall(answer)
            except OSError:
                pass

    record = fuzz.Record()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        until = time.monotonic() + 0.5
        fuzz.run(1, 1, server.server_address, fuzz.corpus(KEYS), until, record)
        fuzz.check_end(server.server_address, record, patience=0.2)
        done.set()
        server.shutdown()
    return {why.split(":")[0] for why, _ in record.failures}


class Judging(unittest.TestCase):
    def test_an_answer_that_is_right_is_not_a_failure(self):
        self.assertEqual(failures(b"HTTP/1.1 200 OK\r\n\r\n"), set())

    def test_a_5xx_is_a_failure_also_as_the_second_answer(self):
        self.assertEqual(failures(b"HTTP/1.1 500 Oops\r\n\r\n"), {"answered with 500", "not healthy"})
        two = b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 503 Away\r\n\r\n"
        self.assertEqual(failures(two), {"answered with 503", "not healthy"})

    def test_a_server_that_answers_nothing_is_a_failure(self):
        self.assertEqual(failures(None), {"not healthy", "no damaged request was answered"})

    def test_an_undamaged_request_that_is_refused_is_a_failure(self):
        self.assertEqual(failures(b"HTTP/1.1 400 Bad Request\r\n\r\n"), {"not healthy"})

    def test_health_is_watched_during_the_run(self):
        record = fuzz.Record()
        with socket.create_server(("127.0.0.1", 0)) as silent:
            until = time.monotonic() + 0.1
            with mock.patch.multiple(fuzz, HEALTH_EVERY_S=0, HEALTH_PATIENCE_S=0.1):
                fuzz.watch_health(silent.getsockname(), until, record)
        self.assertEqual({why.split(":")[0] for why, _ in record.failures}, {"not healthy"})

    def test_bytes_that_are_no_answer_are_a_failure(self):
        self.assertEqual(failures(b"panicked at"), {"no HTTP answer", "not healthy", "no damaged request was answered"})

    def test_a_server_that_has_gone_is_a_failure(self):
        record = fuzz.Record()
        # A port of this machine on which nothing can listen.
        fuzz.run(1, 1, ("127.0.0.1", 0), fuzz.corpus(KEYS), time.monotonic() + 0.5, record)
        self.assertEqual(len(record.failures), 1)

    def test_memory_that_grows_is_seen(self):
        before = fuzz.resident_kib(os.getpid())
        block = bytearray(os.urandom(1 << 20) * 40)
        self.assertGreater(fuzz.resident_kib(os.getpid()) - before, 30 * 1024)
        del block

    def test_a_seed_repeats_its_requests(self):
        requests = fuzz.corpus(KEYS)
        one, other = fuzz.random.Random(7), fuzz.random.Random(7)
        for _ in range(200):
            self.assertEqual(fuzz.damaged(one, requests), fuzz.damaged(other, requests))


if __name__ == "__main__":
    unittest.main()
