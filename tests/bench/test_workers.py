"""Workers that crash or hang are replaced, and the others go on."""

import pathlib
import subprocess
import sys
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from sweeping.workers import Worker, ask_all  # noqa: E402

# Doubles numbers; None ends the process, text hangs it.
PROGRAM = textwrap.dedent(
    f"""
    import os, sys, time
    sys.path.insert(0, {str(ROOT / "bench")!r})
    from sweeping.workers import serve

    def answer(request):
        print("not an answer")
        if request is None:
            os._exit(3)
        if isinstance(request, str):
            time.sleep(60)
        return 2 * request

    serve(answer)
    """
)


class Workers(unittest.TestCase):
    def worker(self):
        worker = Worker([sys.executable, "-c", PROGRAM], None, subprocess.DEVNULL)
        self.addCleanup(worker.stop, kill=True)
        return worker

    def test_answer_one_request_after_another(self):
        worker = self.worker()
        self.assertEqual([worker.ask(i, 30) for i in range(3)], [0, 2, 4])
        self.assertEqual(worker.stop(), 0)
        self.assertEqual(worker.ask(7, 30), 14)

    def test_that_crash_are_replaced(self):
        worker = self.worker()
        self.assertEqual(worker.ask(None, 30), {"lost": "its process ended with code 3"})
        self.assertEqual(worker.ask(1, 30), 2)

    def test_that_hang_are_replaced(self):
        worker = self.worker()
        self.assertEqual(worker.ask(1, 30), 2)
        self.assertEqual(worker.ask("sleep", 0.2), {"lost": "it took longer than 0.2 seconds"})
        self.assertEqual(worker.ask(1, 30), 2)

    def test_share_requests(self):
        requests = [*range(10), None, *range(10, 20)]
        answers = dict(ask_all([self.worker(), self.worker()], requests, 30))
        self.assertEqual(answers.pop(None), {"lost": "its process ended with code 3"})
        self.assertEqual(answers, {i: 2 * i for i in range(20)})


if __name__ == "__main__":
    unittest.main()
