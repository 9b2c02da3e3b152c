"""How the command opens, reads and writes files: FIFOs, links, closed streams, names, other users."""

import json
import os
import pathlib
import subprocess
import time
import unittest

from support import COMMAND, SPECS, CommandTest, run

HAVE_NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]["found"]
ADD = SPECS / "vector_add.json"


class FilesTest(CommandTest):
    def environment(self, **variables):
        return {**os.environ, "TILEJIT_CACHE_DIR": str(self.cache), **variables}


class Files(FilesTest):
    def tuned(self, **fields):
        """A line of a tuning file."""
        entry = {
            "tilejit_tuning": 1, "class": "x", "target": "sm_90a", "device": "d", "tuning": {},
            "milliseconds": 1, "default_milliseconds": 2, "name": "k",
        }  # fmt: skip
        return json.dumps({**entry, **fields}) + "\n"

    def test_a_fifo_hangs_nobody(self):
        """A FIFO without a writer in the place of a file blocked every compile."""
        self.cache.mkdir(mode=0o700)
        fifo = self.cache / "tuning.jsonl"
        os.mkfifo(fifo)
        result = self.run_command("render", ADD)
        self.assertEqual(result.returncode, 0)
        self.assertIn("it is no regular file", result.stderr)
        for variable in ("TILEJIT_TUNING", "TILEJIT_CACHE_BUNDLE_KEY", "TILEJIT_RECORD"):
            with self.subTest(variable):
                options = {"TILEJIT_TUNING": "off", variable: str(fifo)}
                result = self.run_command("cache", "explain", ADD, **options)
                self.assertIn(result.returncode, (0, 2))
                self.run_command("compile", ADD, **options)

    def test_a_pipe_that_a_person_names_is_read(self):
        text = ADD.read_bytes()
        read, write = os.pipe()
        os.write(write, text)
        os.close(write)
        result = subprocess.run(
            [COMMAND, "render", f"/dev/fd/{read}"], pass_fds=(read,), capture_output=True,
            timeout=60, check=False, env=self.environment(),
        )  # fmt: skip
        os.close(read)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_tuning_file_of_others_is_not_read(self):
        """It was trusted in folders whose entries are refused, and wrote to the terminal."""
        forged = {"\x1b[31mRED\ntilejit: warning: a forged line\x07": 1}
        self.cache.mkdir(mode=0o700)
        path = self.cache / "tuning.jsonl"
        path.write_text(self.tuned(tuning=forged))
        result = self.run_command("render", ADD)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertNotIn("\x1b", result.stderr)
        self.assertIn("?[31mRED tilejit: warning", result.stderr)
        path.write_text("no tuning file")
        for mode in (0o777, 0o775):
            os.chmod(self.cache, mode)
            result = self.run_command("render", ADD)
            self.assertIn("others may write to it", result.stderr)
            trusting = self.run_command("render", ADD, TILEJIT_CACHE_TRUST_ANYONE="1")
            self.assertIn("line 1 of", trusting.stderr)

    def test_outputs_follow_no_link(self):
        """The temporary file's name could be guessed, and it was opened through a link of that
        name."""
        victim = self.folder / "victim"
        victim.write_text("precious")
        shared = self.folder / "shared"
        shared.mkdir()
        for pid in range(os.getpid(), os.getpid() + 300):
            (shared / f"out.cu.{pid}.tmp").symlink_to(victim)
        (shared / "out.cu").symlink_to(victim)
        self.assert_ok("render", ADD, "-o", shared / "out.cu")
        self.assertEqual(victim.read_text(), "precious")
        self.assertFalse((shared / "out.cu").is_symlink())
        self.assertIn("__global__", (shared / "out.cu").read_text())

    def test_devices_and_pipes_are_written_to(self):
        self.assert_ok("render", ADD, "-o", "/dev/null")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        read, write = os.pipe()
        result = subprocess.run(
            [COMMAND, "render", ADD, "-o", f"/dev/fd/{write}"], pass_fds=(write,), check=False,
            capture_output=True, timeout=60, env=self.environment(),
        )  # fmt: skip
        os.close(write)
        self.assertEqual(result.returncode, 0, result.stderr)
        with os.fdopen(read) as text:
            self.assertIn("__global__", text.read())

    def test_folders_whose_names_are_not_utf8(self):
        """JSON for such a folder was an internal error, with the exit code of damage."""
        name = os.fsencode(self.folder) + b"/a\xff\xfeb"
        environment = {os.fsencode(k): os.fsencode(v) for k, v in os.environ.items()}
        environment[b"TILEJIT_CACHE_DIR"] = name
        for command in (("verify",), ("prune", "--yes"), ("clear", "--yes"), ("stat",), ("path",)):
            with self.subTest(command):
                result = subprocess.run(
                    [COMMAND, "cache", *command, "--json"], capture_output=True, timeout=60,
                    check=False, env=environment,
                )  # fmt: skip
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                json.loads(result.stdout)

    def test_documents_of_another_kind_are_told_in_words(self):
        other = self.folder / "other.json"
        for text in ("{}", "[", '{"tilejit_tuning":1}', '{"tilejit_bench":1,"device":5}'):
            other.write_text(text + "\n")
            for command in (
                ("bench", "--load", other),
                ("tune", "--merge", other, "--tuning", self.folder / "out.jsonl"),
            ):
                with self.subTest(text=text, command=command[0]):
                    result = self.assert_fails(2, str(other), *command)
                    self.assertNotIn("json.exception", result.stderr)

    def test_a_spec_of_millions_of_values_is_refused_at_once(self):
        """Each unknown member produced its own message: 23 s and 1.4 GB."""
        path = self.folder / "many.json"
        members = ",".join(f'"m{i}":0' for i in range(1_100_000))
        path.write_text("{" + members + "}")
        start = time.monotonic()
        self.assert_fails(2, "more than 1000000 values", "render", path)
        path.write_text("{" + ",".join(f'"m{i}":0' for i in range(300_000)) + "}")
        result = self.assert_fails(2, "unknown field 'm0'", "render", path)
        self.assertIn("and more", result.stderr)
        self.assertLess(len(result.stderr), 10000)
        self.assertLess(time.monotonic() - start, 60)


@unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
class WithNvrtc(FilesTest):
    def test_closed_standard_streams(self):
        """Opened files got the numbers of the standard streams, and warnings ended up in them."""
        record = self.folder / "used.jsonl"
        options = self.environment(
            TILEJIT_SLOW_COMPILE_MS="1", TILEJIT_RECORD=str(record),
            TILEJIT_CACHE_PATH=str(self.folder / "missing"),
        )  # fmt: skip
        for closed in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                subprocess.run(["rm", "-rf", self.cache, record], check=True)
                command = f'exec {closed}; exec "{COMMAND}" compile "{ADD}" --target sm_80,sm_90a'
                # The descriptors that Python opened do not matter: "exec" closes them.
                null = subprocess.DEVNULL
                subprocess.run(
                    ["sh", "-c", command], env=options, stdout=null, stderr=null, timeout=120, check=True
                )
                (place,) = self.assert_json("cache", "verify", "--json")["places"]
                self.assertEqual(place["good"], 2)
                files = [path for path in self.cache.rglob("*") if path.is_file()]
                for path in (record, *files):
                    self.assertNotIn(b"warning", path.read_bytes(), path)
                for line in record.read_text().splitlines():
                    json.loads(line)

    def test_a_disassembler_that_hangs(self):
        """There was no time-out."""
        tools = self.folder / "bin"
        tools.mkdir()
        (tools / "nvdisasm").write_text("#!/bin/sh\nexec sleep 100\n")
        (tools / "nvdisasm").chmod(0o755)
        result = self.run_command(
            "compile", ADD, "--target", "sm_80", PATH=f"{tools}:{os.environ['PATH']}",
            TILEJIT_CACHE_KEEP="sass", TILEJIT_WORKER_TIMEOUT="1s",
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("gave no answer within 1000 ms", result.stderr)

    def test_a_worker_that_hangs_at_its_start(self):
        """It took 60 s, whatever the time-out."""
        worker = self.folder / "worker"
        worker.write_text("#!/bin/sh\nexec sleep 100\n")
        worker.chmod(0o755)
        start = time.monotonic()
        result = self.run_command(
            "compile", ADD, "--target", "sm_80", TILEJIT_WORKER=str(worker),
            TILEJIT_COMPILE_THREADS="0", TILEJIT_WORKER_TIMEOUT="1s",
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("gave no answer in time", result.stderr)
        self.assertLess(time.monotonic() - start, 30)


if __name__ == "__main__":
    unittest.main()
