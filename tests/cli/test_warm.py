"""warm and coverage: what is compiled ahead, what is left out, how a run stops and resumes."""

import json
import os
import pty
import signal
import subprocess
import time
import unittest

from support import COMMAND, SPECS, CommandTest, run

NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]
HAVE_NVRTC = NVRTC["found"]
# Each NVRTC knows at most one of the two names of an architecture.
UNKNOWN = "sm_101" if "sm_101" not in NVRTC.get("supported", []) else "sm_110"


class WarmTest(CommandTest):
    def sweep(self, count, name="swept"):
        """A spec file of `count` kernels."""
        path = self.folder / f"{name}.json"
        tensor = {"dtype": "f32", "layout": "(8,N):(N,1)"}
        sweep = {"N": [64 + i for i in range(count)]}
        path.write_text(
            json.dumps(
                {"name": name, "sweep": sweep, "tensors": {"x": tensor, "y": tensor}, "formula": "y = -x"}
            )
        )
        return path

    def warm(self, *arguments, **options):
        return self.assert_json("warm", *arguments, "--json", "--quiet", **options)

    def entries(self):
        return len(list(self.cache.glob("v1/??/*.cubin")))

    def start(self, *arguments):
        environment = {**os.environ, "TILEJIT_CACHE_DIR": str(self.cache)}
        return subprocess.Popen(
            [COMMAND, "warm", *map(str, arguments)], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def wait_for_entries(self, process, count):
        for _ in range(2000):
            if self.entries() >= count or process.poll() is not None:
                return
            time.sleep(0.02)


class WithoutNvrtc(WarmTest):
    def test_wrong_command_lines(self):
        empty = self.folder / "empty"
        empty.mkdir()
        spec = self.spec()
        for message, arguments in (
            ("--shard is '0/2'", (spec, "--shard", "0/2")),
            ("--shard is '3/2'", (spec, "--shard", "3/2")),
            ("--shard is '1'", (spec, "--shard", "1")),
            ("has no .json or .jsonl file", (empty,)),
            ("does not exist", (self.folder / "missing",)),
            ("volta", (spec, "--target", "volta")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_fails(2, message, "warm", *arguments)
        self.assert_fails(2, "set TILEJIT_CACHE_DIR", "warm", spec, TILEJIT_CACHE_DIR="off")
        self.assert_fails(2, "is empty", "warm", "-", stdin="\n")

    def test_says_when_there_is_no_compiler(self):
        result = self.assert_fails(
            1, "NVRTC", "warm", self.sweep(5), "--keep-going", TILEJIT_NVRTC="/nowhere"
        )
        self.assertEqual(result.stderr.count("--break-system-packages"), 1)  # once, not five times

    def test_dry_run_lists_what_is_missing(self):
        found = self.warm(self.sweep(3), "--target", "sm_80,sm_90a", "--dry-run")
        self.assertEqual((found["entries"], found["present"]), (6, 0))
        self.assertIn("swept_64 for sm_80", found["missing"])
        self.assertFalse(self.cache.exists())
        self.assertIn(
            "missing: swept_65 for sm_90a",
            self.assert_ok("warm", self.sweep(3), "--target", "sm_90a", "--dry-run"),
        )

    def test_shards_cover_exactly(self):
        spec = self.sweep(20)
        whole = self.warm(spec, SPECS, "--target", "sm_80,sm_90a", "--dry-run")["missing"]
        parts = [
            self.warm(spec, SPECS, "--target", "sm_80,sm_90a", "--dry-run", "--shard", f"{i}/7")
            for i in range(1, 8)
        ]
        names = [name for part in parts for name in part["missing"]]
        self.assertEqual(sorted(names), sorted(whole))
        self.assertEqual(len(set(names)), len(names))
        sizes = [part["entries"] for part in parts]
        self.assertLessEqual(max(sizes) - min(sizes), 1)

    def test_same_kernels_are_taken_once(self):
        spec = self.sweep(4)
        (self.folder / "copy.json").write_text(spec.read_text())
        found = self.warm(spec, self.folder, "--target", "sm_80", "--dry-run")
        self.assertEqual(found["entries"], 4)

    def test_lines_that_are_no_entries(self):
        manifest = self.folder / "used.jsonl"
        manifest.write_text('no JSON\n{"target": "sm_80"}\n')
        self.assert_fails(1, "--keep-going leaves them out", "warm", manifest)
        self.assert_fails(1, "used.jsonl, line 1", "warm", manifest, "--keep-going")
        self.assert_fails(1, "2 of 2 kernels are missing", "coverage", manifest)

    def test_dry_run_tells_of_what_cannot_be_read(self):
        """Such lines were silently left out, with exit code 0."""
        manifest = self.folder / "used.jsonl"
        manifest.write_text('{"target":"sm_80","spec":{"formula":"y = x"}}\nrubbish\n{"a":1}\n')
        result = self.assert_fails(1, "used.jsonl, line 2", "warm", manifest, "--dry-run")
        self.assertIn("used.jsonl, line 3", result.stderr)
        result = self.run_command("warm", manifest, "--dry-run", "--json")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(json.loads(result.stdout)["failed"]), 3)

    def test_coverage_of_nothing(self):
        result = self.assert_fails(1, "3 of 3 kernels are missing", "coverage", self.sweep(3))
        self.assertIn("missing: swept_64", result.stdout)
        self.assert_fails(
            2, "does not exist", "coverage", self.sweep(3), "--bundle", self.folder / "none.tjb"
        )

    def test_environment(self):
        self.assert_fails(2, "TILEJIT_MISS is 'never'", "compile", self.spec(), TILEJIT_MISS="never")
        self.assert_fails(
            2, "TILEJIT_COMPILE_IN_CAPTURE", "compile", self.spec(), TILEJIT_COMPILE_IN_CAPTURE="2"
        )


@unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
class Warm(WarmTest):
    def test_second_run_compiles_nothing(self):
        spec = self.sweep(4)
        marker = self.folder / "done.json"
        self.assertEqual(self.warm(spec, "--target", "sm_80", "--marker", marker)["compiled"], 4)
        first = json.loads(marker.read_text())
        self.assertEqual((first["complete"], first["entries"]), (True, 4))
        again = self.warm(spec, "--target", "sm_80", "--marker", marker)
        self.assertEqual((again["present"], again["compiled"]), (4, 0))
        self.assertEqual(json.loads(marker.read_text())["keys"], first["keys"])
        self.assertIn(
            "4 kernels, 4 of them present", self.assert_ok("warm", spec, "--target", "sm_80", "--quiet")
        )

    def test_failures_are_listed(self):
        spec = self.sweep(2)
        marker, bundle, metrics = (self.folder / name for name in ("done.json", "kernels.tjb", "warm.prom"))
        marker.write_text("of an earlier run")
        result = self.assert_fails(
            1, f"swept_65 for {UNKNOWN}: ", "warm", spec, "--target", f"sm_80,{UNKNOWN}", "--keep-going",
            "--json", "--quiet", "--marker", marker, "--bundle", bundle, "--metrics", metrics,
        )  # fmt: skip
        found = json.loads(result.stdout)
        self.assertEqual((found["compiled"], len(found["failed"])), (2, 2))
        self.assertIn(UNKNOWN, found["failed"][0]["error"])
        self.assertIn('tilejit_requests_total{tier="compiled"} 2\n', metrics.read_text())
        self.assertFalse(marker.exists() or bundle.exists())
        self.assert_fails(1, f"for {UNKNOWN}: ", "warm", spec, "--target", UNKNOWN, "-j", "1", "--quiet")

    def tuned(self, spec, target, **threads):
        """A tuning file with different knobs for the kernels of `spec` on each device."""
        path = self.folder / "tuning.jsonl"
        (first, *_) = self.assert_json(
            "tune", spec, "--target", target, "--dry-run", "--budget", "1", "--json",
            TILEJIT_CACHE_DIR=str(self.folder / "candidates"),
        )["kernels"]  # fmt: skip
        entry = {
            "tilejit_tuning": 1, "class": first["class"], "target": target, "milliseconds": 1.0,
            "default_milliseconds": 2.0, "name": "swept",
        }  # fmt: skip
        lines = [
            {**entry, "device": device, "tuning": {"threads": count} if count else {}}
            for device, count in threads.items()
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return {"TILEJIT_TUNING": str(path)}

    def test_every_device_of_the_tuning_file(self):
        # Only the first device's kernels were taken, and the others missed when serving.
        spec = self.sweep(1)
        environment = self.tuned(spec, "sm_90a", A=64, B=128, C=0)

        def missing(*options):
            return self.warm(spec, "--target", "sm_90a", "--dry-run", *options, **environment)["missing"]

        self.assertEqual(missing(), [f"swept_64 for sm_90a, {device}" for device in "ABC"])
        self.assertEqual(missing("--device", "B"), ["swept_64 for sm_90a, B"])
        self.assertEqual(missing("--no-tuning"), ["swept_64 for sm_90a"])
        result = self.assert_fails(1, "3 of 3 kernels are missing", "coverage", spec, "--target", "sm_90a",
                                   "--json", **environment)  # fmt: skip
        kernels = json.loads(result.stdout)["kernels"]
        self.assertEqual([kernel["device"] for kernel in kernels], ["A", "B", "C"])
        self.assertEqual(len({kernel["key"] for kernel in kernels}), 3)
        for command in ("warm", "coverage"):
            self.assert_fails(
                2, "--device is 'D'; the tuning file has 'A', 'B', 'C'", command, spec, "--target", "sm_90a",
                "--device", "D", **environment,
            )  # fmt: skip
            self.assert_fails(
                2, "--device names a device of the tuning file, which has none", command, spec, "--target",
                "sm_80", "--device", "A", **environment,
            )  # fmt: skip
        self.assertEqual(self.warm(spec, "--target", "sm_90a", "--device", "C", **environment)["compiled"], 1)
        self.assertEqual(self.warm(spec, "--target", "sm_90a", **environment)["compiled"], 2)
        self.assert_ok("coverage", spec, "--target", "sm_90a", **environment)
        alike = self.tuned(spec, "sm_90a", A=64, B=64)
        self.assertEqual(self.warm(spec, "--target", "sm_90a", "--dry-run", **alike)["entries"], 1)

    def test_a_marker_says_only_what_the_bound_has_left(self):
        """It reported kernels as complete that were only in memory: the bound had removed their
        files."""
        marker = self.folder / "marker.json"
        result = self.assert_fails(
            1, "are not in the cache any more", "warm", self.sweep(60), "--target", "sm_80", "--quiet",
            "--marker", marker, TILEJIT_CACHE_MAX_SIZE="60K",
        )  # fmt: skip
        self.assertIn("TILEJIT_CACHE_MAX_SIZE", result.stderr)
        self.assertFalse(marker.exists())
        self.assertLess(self.entries(), 60)

    def test_coverage(self):
        spec, more = self.sweep(3), self.sweep(2, "more")
        bundle = self.folder / "kernels.tjb"
        self.warm(spec, "--target", "sm_80", "--bundle", bundle)
        self.assertIn("100.0", self.assert_ok("coverage", spec, "--target", "sm_80"))
        found = self.assert_json("coverage", spec, "--target", "sm_80", "--bundle", bundle, "--json")
        self.assertTrue(found["complete"])
        self.assertEqual({k["tier"] for k in found["kernels"]}, {"read-only"})
        for where in (("--cache-dir", self.cache), ("--bundle", bundle)):
            self.assert_ok("coverage", spec, "--target", "sm_80", *where, TILEJIT_CACHE_DIR="off")
            result = self.assert_fails(
                1, "2 of 5 kernels are missing", "coverage", spec, more, "--target", "sm_80", *where,
                TILEJIT_CACHE_DIR="off",
            )  # fmt: skip
            self.assertIn("missing: more_64 for sm_80", result.stdout)
        self.assert_fails(1, "3 of 6 kernels", "coverage", spec, "--target", "sm_80,sm_90a")

    def test_stops_at_a_signal_and_goes_on(self):
        spec = self.sweep(40)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number):
                before = self.entries()
                process = self.start(spec, "--target", "sm_80", "-j", "2")
                self.wait_for_entries(process, before + 4)
                process.send_signal(number)
                _, stderr = process.communicate(timeout=60)
                self.assertEqual(process.returncode, -number, stderr)
                self.assertGreater(self.entries(), before)
                self.assertLess(self.entries(), 40)
                if number != signal.SIGKILL:
                    self.assertIn("the same command goes on from there", stderr)
                    self.assertIn(f"stopped with {self.entries()} of 40", stderr)
                    self.assertEqual(list(self.cache.rglob("*.tmp")), [])
        before = self.entries()
        found = self.warm(spec, "--target", "sm_80")
        self.assertEqual((found["present"], found["compiled"]), (before, 40 - before))
        self.assertEqual(self.entries(), 40)

    def test_eight_processes_share_the_work(self):
        manifest = self.folder / "used.jsonl"
        for target in ("sm_80", "sm_90a"):
            self.assert_ok(
                "compile", self.sweep(8), "--target", target, TILEJIT_RECORD=str(manifest),
                TILEJIT_CACHE_DIR=str(self.folder / "other"),
            )  # fmt: skip
        processes = [self.start(manifest, "-j", "1", "--json", "--quiet") for _ in range(8)]
        found = []
        for process in processes:
            stdout, stderr = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, stderr)
            found.append(json.loads(stdout))
        self.assertEqual(sum(each["compiled"] for each in found), 16)
        for each in found:
            self.assertEqual(each["present"] + each["compiled"] + each["found"], 16)

    def test_trace(self):
        trace = self.folder / "trace.json"
        self.warm(self.sweep(3), "--target", "sm_80", "-j", "2", "--trace", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        kernels = [event for event in events if event["cat"] == "kernel"]
        self.assertEqual(
            {event["name"] for event in kernels}, {f"swept_{64 + i} for sm_80" for i in range(3)}
        )
        for event in events:
            self.assertEqual(event["ph"], "X")
            self.assertGreaterEqual(event["ts"], 0)
            self.assertIn(event["tid"], (0, 1))
        self.assertEqual(sum(event["name"] == "nvrtc" for event in events), 3)

    def test_progress_is_a_bar_on_a_terminal(self):
        leader, follower = pty.openpty()
        with os.fdopen(leader, "rb", buffering=0) as terminal:
            process = subprocess.Popen(
                [COMMAND, "warm", str(self.sweep(6)), "--target", "sm_80", "-j", "2"],
                stdout=subprocess.DEVNULL, stderr=follower,
                env={**os.environ, "TILEJIT_CACHE_DIR": str(self.cache)},
            )  # fmt: skip
            os.close(follower)
            shown = b""
            try:
                while block := terminal.read(4096):
                    shown += block
            except OSError:  # the terminal's other end is closed
                pass
            self.assertEqual(process.wait(timeout=60), 0)
        self.assertIn(b"/6", shown)
        self.assertRegex(shown, rb"\[#*-*\] ")
        self.assertTrue(shown.endswith(b"\x1b[K"), shown[-80:])

    def test_signed_bundle(self):
        key, public = self.folder / "key.pem", self.folder / "public.pem"
        for command in (
            ("openssl", "genpkey", "-algorithm", "ed25519", "-out", key),
            ("openssl", "pkey", "-in", key, "-pubout", "-out", public),
        ):
            try:
                subprocess.run(command, check=True, capture_output=True)
            except FileNotFoundError:
                self.skipTest("openssl is not installed")
        bundle = self.folder / "kernels.tjb"
        spec = self.sweep(1)
        self.warm(spec, "--target", "sm_80", "--bundle", bundle, "--sign", key)
        self.assert_ok(
            "coverage", spec, "--target", "sm_80", "--bundle", bundle,
            TILEJIT_CACHE_BUNDLE_KEY=str(public),
        )  # fmt: skip
        self.assert_fails(
            2, "no Ed25519 private key", "warm", spec, "--target", "sm_80", "--bundle", bundle,
            "--sign", public,
        )  # fmt: skip


if __name__ == "__main__":
    unittest.main()
