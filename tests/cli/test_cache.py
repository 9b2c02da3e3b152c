"""tilejit cache: listing entries, why a key misses, cleaning up, bundles."""

import hashlib
import http.server
import json
import os
import shutil
import struct
import subprocess
import threading
import unittest

from support import SPECS, CommandTest, run

HAVE_NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]["found"]
ADD = SPECS / "vector_add.json"
COMMANDS = (
    "path", "stat", "doctor", "ls", "show", "explain", "why", "verify", "prune", "clear", "export",
    "import",
)  # fmt: skip


class Empty(http.server.BaseHTTPRequestHandler):
    """A remote with no entries."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class CacheTest(CommandTest):
    def query(self, *arguments, **options):
        return self.assert_json("cache", *arguments, "--json", **options)

    def entry(self, key):
        return self.cache / "v1" / key[:2] / f"{key}.cubin"


class WithoutEntries(CacheTest):
    def test_help_has_examples_everywhere(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertIn("Examples:\n", self.assert_ok("cache", command, "--help"))

    def test_path(self):
        self.assertEqual(self.assert_ok("cache", "path"), f"{self.cache}\n")
        found = self.query("path", TILEJIT_CACHE_PATH="/a:/b", TILEJIT_CACHE_MAX_SIZE="1M")
        self.assertEqual(found["read_only"], ["/a", "/b"])
        self.assertEqual(found["max_bytes"], 1 << 20)

    def test_folder_that_is_not_there_is_empty(self):
        self.assertEqual(self.assert_ok("cache", "ls"), "0 entries, 0 bytes\n")
        self.assertEqual(self.query("verify")["places"][0]["good"], 0)
        self.assertEqual(self.query("clear", "--yes")["removed"], 0)
        self.assertFalse(self.cache.exists())

    def test_nothing_is_deleted_without_a_word(self):
        for command in (("clear",), ("prune", "--max-size", "1")):
            self.assert_fails(2, "say so with --yes", "cache", *command, stdin="")

    def test_wrong_command_lines(self):
        no_bundle = self.folder / "file"
        no_bundle.write_text("text")
        cases = [
            (2, "there is no command 'lst'", ("lst",)),
            (2, "'much'; it takes bytes", ("prune", "--max-size", "much", "--yes")),
            (2, "'1y'; it takes a time", ("prune", "--max-age", "1y", "--yes")),
            (2, "no key starts with 'abc'", ("show", "abc")),
            (2, "does not exist; check the path", ("verify", self.folder / "missing")),
            (1, "the cache is empty", ("why", ADD)),
            (1, "no entry is chosen", ("export", self.folder / "x.tjb")),
            (1, "it is not a bundle", ("import", no_bundle)),
            (1, "No such file", ("import", self.folder / "missing")),
            (2, "does not exist", ("export", "x.tjb", "--sign", self.folder / "missing")),
        ]
        for code, message, arguments in cases:
            with self.subTest(arguments=arguments):
                self.assert_fails(code, message, "cache", *arguments)
        self.assertEqual(list(self.folder.glob("*.tjb*")), [])

    def test_memory_only(self):
        self.assert_fails(2, "set TILEJIT_CACHE_DIR", "cache", "ls", TILEJIT_CACHE_DIR="off")
        nowhere = {"TILEJIT_CACHE_DIR": "", "HOME": "", "XDG_CACHE_HOME": ""}
        result = self.run_command("cache", "clear", **nowhere)
        self.assertEqual(result.returncode, 2)
        self.assertIn("tilejit: the cache is kept in memory only", result.stderr)

    @unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
    def test_missing_home(self):
        """Regression test 9: it compiles, keeps nothing, and says so once."""
        before = sorted(self.folder.rglob("*"))
        off = {"TILEJIT_CACHE_DIR": "off"}
        nowhere = {"TILEJIT_CACHE_DIR": "", "HOME": "", "XDG_CACHE_HOME": ""}
        for environment, warnings in ((nowhere, 1), (off, 0)):
            result = self.run_command("compile", ADD, "--target", "sm_80", **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.count("kept in memory only"), warnings)
            self.assertEqual(result.stderr.count("\n"), warnings)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_doctor(self):
        self.assertIn("writable", self.assert_ok("cache", "doctor"))
        self.assertEqual([p for p in self.cache.rglob("*") if p.suffix == ".cubin"], [])
        self.cache.chmod(0o777)
        self.assertIn(
            "others may write to it",
            self.assert_fails(1, "found a problem", "cache", "doctor").stdout,
        )
        self.assert_ok("cache", "doctor", TILEJIT_CACHE_TRUST_ANYONE="1")
        self.cache.chmod(0o700)
        result = self.assert_fails(
            1, "found a problem", "cache", "doctor", TILEJIT_CACHE_PATH=str(self.folder / "gone")
        )
        self.assertIn("cannot be found", result.stdout)

    def test_doctor_asks_the_remote(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"127.0.0.1:{server.server_port}/"
            text = self.assert_ok("cache", "doctor", TILEJIT_CACHE_REMOTE=f"http://me:s3cret@{url}")
            self.assertRegex(text, rf"remote +ok +http://{url}, answers")
            server.shutdown()
        result = self.assert_fails(
            1, "1 of 3 checks found a problem", "cache", "doctor",
            TILEJIT_CACHE_REMOTE="http://me:s3cret@127.0.0.1:1/",
        )  # fmt: skip
        self.assertRegex(result.stdout, "remote +PROBLEM .*cannot be reached")
        self.assertNotIn("s3cret", result.stdout + result.stderr)


@unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
class WithEntries(CacheTest):
    def setUp(self):
        super().setUp()
        self.keys = [self.compile("sm_80"), self.compile("sm_90a")]

    def compile(self, target, **options):
        (artifact,) = self.assert_json(
            "compile", ADD, "--target", target, "--json", **options
        )["artifacts"]
        return artifact["key"]

    def test_ls(self):
        text = self.assert_ok("cache", "ls")
        self.assertIn("2 entries", text)
        entries = self.query("ls")["entries"]
        self.assertEqual({entry["key"] for entry in entries}, set(self.keys))
        self.assertEqual({entry["target"] for entry in entries}, {"sm_80", "sm_90a"})
        for entry in entries:
            self.assertIn(entry["key"][:12], text)
            self.assertIn("vector_add", entry["kernel"])
            self.assertEqual(entry["bytes"], self.entry(entry["key"]).stat().st_size)
            self.assertGreater(entry["registers"], 0)
        (only,) = self.query("ls", "--target", "sm_80", "--kernel", "add")["entries"]
        self.assertEqual(only["key"], self.keys[0])
        self.assertEqual(self.query("ls", "--kernel", "nothing")["entries"], [])

    def test_show(self):
        shown = self.query("show", self.keys[0][:10])
        metadata = shown["metadata"]
        for field in (
            "compiler", "compiler_version", "generator", "key_schema", "options", "plan", "target",
            "kernel", "created", "milliseconds", "registers", "spill_bytes", "shared_bytes",
        ):  # fmt: skip
            self.assertIn(field, metadata)
        self.assertEqual(set(metadata["milliseconds"]), {"plan", "render", "nvrtc"})
        cubin = self.folder / "out.cubin"
        self.assertIn("registers", self.assert_ok("cache", "show", self.keys[0], "-o", cubin))
        self.assertEqual(cubin.read_bytes()[:4], b"\x7fELF")
        self.assert_fails(2, "several keys start with ''", "cache", "show", "")
        self.assert_fails(1, "no ptx was kept", "cache", "show", self.keys[0], "--kept", "ptx")

    def test_texts_that_are_kept(self):
        key = self.compile("sm_86", TILEJIT_CACHE_KEEP="all")
        self.assertIn("__global__", self.assert_ok("cache", "show", key, "--kept", "source"))
        self.assertIn(".target sm_86", self.assert_ok("cache", "show", key, "--kept", "ptx"))
        self.assertIn("registers", self.assert_ok("cache", "show", key, "--kept", "log"))
        self.query("clear", "--yes")
        self.assertEqual(list((self.cache / "v1").glob("??/*")), [])

    def test_explain(self):
        found = self.query("explain", ADD, "--target", "sm_80")
        self.assertEqual((found["key"], found["tier"]), (self.keys[0], "disk"))
        text = self.assert_ok("cache", "explain", ADD, "--target", "sm_75")
        for line in ("cached", "compiler", "generator", "key_schema", "options[0]", "plan.threads"):
            self.assertRegex(text, rf"(?m)^{line.replace('[', '.').replace(']', '.')} ")
        self.assertIsNone(self.query("explain", ADD, "--target", "sm_75")["tier"])

    def test_why_names_exactly_what_differs(self):
        same = self.query("why", ADD, "--target", "sm_80")
        self.assertEqual((same["other"]["key"], same["differences"]), (self.keys[0], []))
        self.assertIn("same key", self.assert_ok("cache", "why", ADD, "--target", "sm_80"))
        other = self.query("why", ADD, "--target", "sm_90")
        self.assertEqual(
            {d["field"]: d["wanted"] for d in other["differences"]},
            {"target": "sm_90", "plan.target": "sm_90"},
        )

    def test_why_of_another_compiler(self):
        """The build is the only field that differs."""
        place = self.entry(self.keys[0])
        # Like an entry of another NVRTC, except for its key, which the search for one does not
        # check.
        data = place.read_bytes()
        before = json.loads(self.cache_text(data))["compiler"]
        self.rewrite(place, before, "0" * len(before))
        self.entry(self.keys[1]).unlink()
        found = self.query("why", ADD, "--target", "sm_80")
        self.assertEqual(
            found["differences"],
            [{"field": "compiler", "wanted": before, "other": "0" * len(before)}],
        )

    @staticmethod
    def cache_text(data):
        payload = int.from_bytes(data[-48:-40], "little")
        return data[payload:-64]

    @staticmethod
    def rewrite(path, before, after):
        path.write_bytes(path.read_bytes().replace(before.encode(), after.encode()))

    def test_metadata_that_is_not_as_expected(self):
        """Anyone who may write to the folder chooses the metadata; the command still lists it."""
        texts = (
            b"", b"no JSON", b"[]", b"{", b'{"kernel":5,"target":[],"registers":"many"}',
            b'{"kernel":"\xff\x1b[2J","plan":{"a":"\xff"}}', b'{"a":' + b"[" * 99999 + b"]" * 99999 + b"}",
        )  # fmt: skip
        for text in texts:
            with self.subTest(text=text[:40]):
                key = hashlib.sha256(b"key of " + text).hexdigest()
                body = b"payload" + text + b"tjentry\n" + struct.pack("<IIQQ", 1, 0, 7, len(text))
                self.entry(key).parent.mkdir(mode=0o700, exist_ok=True)
                self.entry(key).write_bytes(body + hashlib.sha256(body).digest())
                for command in (("ls",), ("stat",), ("why", ADD)):
                    result = self.run_command("cache", *command)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertNotIn("\x1b", result.stdout)
                    self.query(*command)
                self.assert_fails(1, "another key's", "cache", "show", key)
        place = self.query_failed("verify")["places"][0]
        self.assertEqual((place["good"], len(place["misplaced"])), (2, len(texts)))

    def test_why_of_two_specs(self):
        one = self.spec(name="one")
        other = self.folder / "other.json"
        shutil.copy(one, other)
        one.write_text(one.read_text().replace('"y = x"', '"y = x + 1"'))
        fields = {d["field"] for d in self.query("why", one, other)["differences"]}
        self.assertTrue(fields)
        self.assertTrue(all(field.startswith("plan.program") for field in fields), fields)

    def test_same_name_changed_formula_is_another_key(self):
        """Regression test 6: a cache keyed by names returned the old kernel."""
        first = self.query("explain", self.spec())["key"]
        self.assertNotEqual(first, self.query("explain", self.spec(formula="y = x + x"))["key"])

    def test_verify_finds_damage(self):
        self.assertEqual(self.query("verify")["places"][0]["good"], 2)
        path = self.entry(self.keys[0])
        data = bytearray(path.read_bytes())
        data[100] ^= 1
        path.write_bytes(data)
        result = self.assert_fails(1, "1 are damaged", "cache", "verify")
        self.assertIn(self.keys[0], result.stdout)
        self.assertEqual(self.compile("sm_80"), self.keys[0])
        self.assertEqual(self.query("verify")["places"][0]["good"], 2)

    def test_an_entry_of_another_key_is_not_believed(self):
        """A copied file returned another kernel's code, and verify reported it intact."""
        wanted, other = (self.entry(key) for key in self.keys)
        right = self.folder / "right.cubin"
        self.assert_ok("compile", ADD, "--target", "sm_80", "-o", right)
        bundle, alien = self.folder / "kernels.tjb", self.folder / "alien.tjb"
        self.assert_ok("cache", "export", bundle)
        data = bundle.read_bytes()
        shutil.copy(other, wanted)
        result = self.assert_fails(1, "1 are damaged", "cache", "verify")
        self.assertIn(f"another key's entry: {self.keys[0]}", result.stdout)
        self.assertEqual(self.query_failed("verify")["places"][0]["misplaced"], [self.keys[0]])
        self.assert_fails(1, "damaged", "cache", "show", self.keys[0])
        self.assert_fails(1, "left out", "cache", "export", self.folder / "some.tjb")
        got = self.folder / "got.cubin"
        result = self.run_command("compile", ADD, "--target", "sm_80", "-o", got)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("another key's", result.stderr)
        self.assertEqual(got.read_bytes(), right.read_bytes())
        self.assertTrue(wanted.with_name(wanted.name + ".damaged").exists())
        self.assertEqual(self.query("verify")["places"][0]["good"], 2)

        # The same with an unsigned bundle's index: its two records swap their entries.
        alien.write_bytes(self.with_swapped_records(data))
        self.assert_fails(1, "are damaged", "cache", "verify", alien)
        options = {"TILEJIT_CACHE_DIR": str(self.folder / "empty"), "TILEJIT_CACHE_PATH": str(alien)}
        self.assert_fails(1, "is damaged at", "cache", "import", alien, **options)
        result = self.run_command("compile", ADD, "--target", "sm_80", "-o", got, **options)
        self.assertIn("another key's entry under the key", result.stderr)
        self.assertEqual(got.read_bytes(), right.read_bytes())

    def query_failed(self, *arguments):
        return json.loads(self.run_command("cache", *arguments, "--json").stdout)

    @staticmethod
    def with_swapped_records(data):
        """A bundle of two entries and no signature, whose checksums all fit (cache/FORMAT.md)."""
        trailer = data[-176:]
        count, index, marker_bytes = struct.unpack("<QQQ", trailer[16:40])
        assert count == 2 and trailer[12] == 0
        records = [data[index + 88 * i : index + 88 * (i + 1)] for i in range(2)]
        swapped = b""
        for own, other in (records, records[::-1]):
            record = own[:32] + other[32:80]
            swapped += record + hashlib.sha256(record).digest()[:8]
        body = swapped + data[index + 176 : index + 176 + marker_bytes] + trailer[:40]
        return data[:index] + body + hashlib.sha256(body).digest() + trailer[72:]

    def test_prune_and_clear(self):
        os.utime(self.entry(self.keys[0]), (0, 0))
        pruned = self.query("prune", "--max-age", "30d", "--yes")
        self.assertEqual((pruned["removed"], pruned["kept"]), (1, 1))
        self.assertEqual(self.query("prune", "--max-size", "1", "--yes")["removed"], 1)
        self.compile("sm_80")
        self.assertIn("removed 1 entry and 0 leftovers", self.assert_ok("cache", "clear", "--yes"))
        self.assertEqual(self.query("stat")["places"][0]["entries"], 0)

    def test_stat(self):
        (place,) = self.query("stat")["places"]
        self.assertEqual(place["entries"], 2)
        self.assertEqual(place["targets"], {"sm_80": 1, "sm_90a": 1})
        self.assertIn("1 sm_80, 1 sm_90a", self.assert_ok("cache", "stat"))

    def test_bundle_is_used_where_it_lies(self):
        """A compiled cache in an image: read-only, one file, no NVRTC."""
        bundle = self.folder / "it's a bundle.tjb"
        made = self.query("export", bundle, "--target", "sm_80")
        self.assertEqual((made["entries"], made["signed"]), (1, False))
        options = {
            "TILEJIT_CACHE_DIR": str(self.folder / "empty"),
            "TILEJIT_CACHE_PATH": str(bundle),
            "TILEJIT_CACHE_COPY_AFTER_MS": "off",
            "TILEJIT_NVRTC": "/nowhere",
        }
        result = self.run_command("compile", ADD, "--target", "sm_80", "--json", **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        (artifact,) = json.loads(result.stdout)["artifacts"]
        self.assertEqual((artifact["tier"], artifact["key"]), ("read-only", self.keys[0]))
        self.assertEqual(len(self.query("ls", "--all", **options)["entries"]), 1)
        self.assertEqual(self.query("verify", bundle)["places"][0]["good"], 1)

    def test_import(self):
        bundle = self.folder / "kernels.tjb"
        self.query("export", bundle)
        other = {"TILEJIT_CACHE_DIR": str(self.folder / "other")}
        self.assertEqual(self.query("import", bundle, **other)["added"], 2)
        self.assertEqual(self.query("import", bundle, **other)["present"], 2)
        self.assertEqual(self.query("verify", **other)["places"][0]["good"], 2)
        result = self.run_command(
            "compile", ADD, "--target", "sm_80", "--json", TILEJIT_NVRTC="/nowhere", **other
        )
        self.assertEqual(json.loads(result.stdout)["artifacts"][0]["tier"], "disk")

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_signed_bundle(self):
        key, public, stranger = (self.folder / name for name in ("key", "public", "stranger"))
        for path in (key, stranger):
            subprocess.run(
                ["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True
            )
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
        bundle = self.folder / "kernels.tjb"
        other = {"TILEJIT_CACHE_DIR": str(self.folder / "other")}
        self.assertTrue(self.query("export", bundle, "--sign", key)["signed"])
        self.assertEqual(self.query("import", bundle, "--key", public, **other)["added"], 2)
        self.query("export", bundle, "--sign", stranger)
        self.assert_fails(
            1, "its signature is not of the key", "cache", "import", bundle, "--key", public
        )
        self.query("export", bundle)
        self.assert_fails(
            1, "it is not signed", "cache", "import", bundle, TILEJIT_CACHE_BUNDLE_KEY=str(public)
        )
        self.assert_fails(2, "no Ed25519 private key", "cache", "export", bundle, "--sign", public)


if __name__ == "__main__":
    unittest.main()
