"""Worker processes that answer one JSON line per request, and are replaced when they crash or hang:
a kernel that reads where it should not takes its whole process with it."""

import concurrent.futures
import contextlib
import json
import os
import queue
import selectors
import subprocess
import sys


def serve(answer):
    """The worker's side: `answer` maps a request to something that JSON holds. What it prints goes to
    standard error."""
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)
        for line in sys.stdin:
            replies.write(json.dumps(answer(json.loads(line))) + "\n")
            replies.flush()


class Worker:
    """One process, started with the first request and again after it was lost."""

    def __init__(self, command, environment, log):
        self.command, self.environment, self.log = command, environment, log
        self.process = None

    def ask(self, request, seconds):
        """The answer; {"lost": why} if the worker died or took longer, and is gone."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=self.environment
            )
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            line = self._line(seconds)
        except BrokenPipeError:
            line = b""
        if line is None:
            self.stop(kill=True)
            return {"lost": f"it took longer than {seconds} seconds"}
        if not line.endswith(b"\n"):
            return {"lost": f"its process ended with code {self.stop()}"}
        return json.loads(line)

    def _line(self, seconds):
        """One line of the worker's; None if none came in time."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                return None
        return self.process.stdout.readline()

    def stop(self, kill=False):
        """Ends the process and returns its exit code."""
        if self.process is None:
            return 0
        if kill:
            self.process.kill()
        with contextlib.suppress(BrokenPipeError):  # of a request that was not read
            self.process.stdin.close()
        code = self.process.wait()
        self.process.stdout.close()
        self.process = None
        return code


def ask_all(workers, requests, seconds):
    """Yields (request, answer) as answers come; each worker takes the next request when it is free."""
    free = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def ask(request):
        worker = free.get()
        try:
            return request, worker.ask(request, seconds)
        finally:
            free.put(worker)

    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        futures = [pool.submit(ask, request) for request in requests]
        for future in concurrent.futures.as_completed(futures):
            yield future.result()
