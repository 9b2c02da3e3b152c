"""A server on loopback that misbehaves as the first part of a request's path says.

Prints `listening on PORT` and ends when standard input does. `/requests` answers how many other
requests there have been, `/connections` how many connections they used.
"""

import os
import socket
import struct
import sys
import threading
import time

stored = {}
asked = {}  # path: number of requests
counts = {"requests": 0, "connections": 0}
lock = threading.Lock()


class Done(Exception):
    """The connection is finished."""


class Connection:
    def __init__(self, connection, port):
        self.socket = connection
        self.file = connection.makefile("rb")
        self.port = port

    def send(self, data):
        self.socket.sendall(data)

    def answer(self, status, body=b"", length=None, headers=""):
        length = len(body) if length is None else length
        head = f"HTTP/1.1 {status} Whatever\r\nContent-Length: {length}\r\n{headers}\r\n"
        self.send(head.encode() + (b"" if self.method == "HEAD" else body))

    def read_request(self):
        line = self.file.readline().split()
        if len(line) != 3:
            raise Done
        self.method, self.path = line[0].decode(), line[1].decode()
        self.headers = {}
        while header := self.file.readline().strip():
            name, _, value = header.decode().partition(":")
            self.headers[name.lower()] = value.strip()
        _, self.fault, *rest = self.path.split("/")
        self.argument, self.rest = rest[0] if rest else "", "/".join(rest)

    def read_body(self):
        return self.file.read(int(self.headers.get("content-length", 0)))

    def serve(self):
        while True:
            self.read_request()
            if self.fault in counts:
                self.answer(200, str(counts[self.fault]).encode())
                continue
            with lock:
                counts["requests"] += 1
                asked[self.path] = asked.get(self.path, 0) + 1
                self.number = asked[self.path]
            getattr(self, "fault_" + self.fault.replace("-", "_"))()

    # Well-behaved answers: a store, and one that asks for a user and a password.

    def fault_store(self, path=None):
        path = path or self.rest
        if self.method == "PUT":
            stored[path] = self.read_body()
            self.answer(201)
        elif path in stored:
            self.answer(200, stored[path])
        else:
            self.answer(404, b"no such entry")

    def fault_private(self):
        if self.headers.get("authorization") == "Basic dXNlcjpwQHNzOndvcmQ=":  # user:p@ss:word
            self.fault_store()
        else:
            self.read_body()
            self.answer(401, b"", headers="WWW-Authenticate: Basic realm=x\r\n")

    def fault_fixed_once(self):
        self.fault_fixed() if self.number == 1 else self.fault_store()

    def fault_unsigned(self):
        if "authorization" in self.headers:
            self.read_body()
            self.answer(400)
        else:
            self.fault_store()

    def fault_fixed(self):  # takes no uploads
        if self.method == "PUT":
            self.read_body()
            self.answer(405)
        else:
            self.fault_store()

    # Faults.

    def fault_status(self):
        self.read_body()
        self.answer(int(self.argument), b"<html>an error page</html>")

    def fault_recovers(self):  # on the third request
        if self.number <= 2:
            self.read_body()
            self.answer(503)
        else:
            self.fault_store()

    def fault_retry_after(self):
        self.answer(503, headers="Retry-After: 30\r\n")

    def fault_s3_error(self):
        self.read_body()
        status, code = self.argument.split("-")
        self.answer(int(status), f"<Error><Code>{code}</Code></Error>".encode())

    def fault_hang(self):
        time.sleep(60)

    def fault_hang_once(self):
        if self.number == 1:
            time.sleep(60)
        self.fault_store()

    def fault_hang_in_body(self):
        self.answer(200, b"half", length=8)
        time.sleep(60)

    def fault_drip(self):
        self.answer(200, length=1000)
        for _ in range(1000):
            time.sleep(0.05)
            self.send(b"x")

    def fault_drip_headers(self):
        self.send(b"HTTP/1.1 200 OK\r\n")
        for i in range(1000):
            time.sleep(0.05)
            self.send(f"X-{i}: x\r\n".encode())

    def fault_slow(self):  # but correct
        time.sleep(0.3)
        self.fault_store()

    def fault_wrong(self):
        self.answer(200, b"these are not the bytes")

    def fault_longer(self):  # than Content-Length says
        self.answer(200, stored[self.rest] + b"more", length=len(stored[self.rest]) // 2)
        raise Done

    def fault_shorter(self):
        self.answer(200, stored[self.rest], length=len(stored[self.rest]) + 1)
        raise Done

    def fault_negative(self):
        self.answer(200, b"body", length=-4)
        raise Done

    def fault_two_lengths(self):
        self.answer(200, b"body", headers="Content-Length: 2\r\n")
        raise Done

    def fault_huge(self):
        self.answer(200, b"x" * 1000, length=1 << 50)

    def fault_endless(self):
        self.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            self.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    def fault_cut(self):
        self.answer(200, stored[self.rest][:10], length=len(stored[self.rest]))
        raise Done

    def fault_cut_once(self):
        self.fault_cut() if self.number == 1 else self.fault_store()

    def fault_close(self):
        raise Done

    def fault_reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Done

    def fault_close_after(self):  # each answer, without announcing it
        self.fault_store()
        raise Done

    def fault_garbage(self):
        self.send(bytes(range(256)) * 16 + b"\r\n\r\n")
        raise Done

    def fault_garbage_headers(self):
        self.send(b"HTTP/1.1 200 OK\r\n\x00\xff no colon\r\nContent-Length: none\r\n\r\nbody")
        raise Done

    def fault_header_flood(self):
        self.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            self.send(b"X-Flood: " + b"x" * 1000 + b"\r\n")

    def fault_to(self):  # /to/<port>: another origin
        self.answer(302, headers=f"Location: http://127.0.0.1:{self.argument}/x\r\n")

    def fault_to_user(self):  # looks like this origin, but is not
        self.answer(302, headers=f"Location: http://127.0.0.1:{self.port}@localhost/x\r\n")

    def fault_here(self):
        self.read_body()
        self.answer(307, headers=f"Location: /store/{self.rest}\r\n")

    def fault_circle(self):
        self.answer(302, headers=f"Location: {self.path}\r\n")


def serve(connection, port):
    served = Connection(connection, port)
    try:
        with connection, served.file:
            served.serve()
    except (Done, OSError):
        pass


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    port = listener.getsockname()[1]
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    print(f"listening on {port}", flush=True)
    while True:
        connection, _ = listener.accept()
        counts["connections"] += 1
        threading.Thread(target=serve, args=(connection, port), daemon=True).start()


main()
