"""The command's own documentation: help, completions, manuals, and hints after typing errors."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from support import CATALOGUE, COMMAND, SPECS, CommandTest, run

HAVE_NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]["found"]
ADD = SPECS / "vector_add.json"
SYMBOLIC = SPECS / "symbolic.json"


def commands_of(text):
    """{group: names} of a help text."""
    groups = {}
    for part in text.split("\n\n"):
        title, *lines = part.splitlines()
        names = [line.split()[0] for line in lines if re.match(r"  [a-z]\S* ", line)]
        if names and title.endswith(":") and title not in ("Options:", "Examples:"):
            groups[title[:-1]] = names
    return groups


class Help(CommandTest):
    def all_commands(self):
        for group in commands_of(self.assert_ok("--help")).values():
            for name in group:
                yield (name,)
                if name in ("cache", "layout"):
                    for sub in sum(commands_of(self.assert_ok(name, "--help")).values(), []):
                        yield (name, sub)

    def test_commands_are_sorted_by_use(self):
        groups = commands_of(self.assert_ok("--help"))
        self.assertEqual(list(groups), ["Everyday", "Deploy", "Inspect", "This command"])
        self.assertIn("run", groups["Everyday"])
        self.assertIn("warm", groups["Deploy"])
        self.assertIn("doctor", groups["Inspect"])

    def test_values_have_names(self):
        found = list(self.all_commands())
        self.assertGreater(len(found), 80)
        for command in found:
            with self.subTest(command=command):
                text = self.assert_ok(*command, "--help")
                self.assertNotRegex(text, r"\b(INT|UINT|FLOAT|TEXT|BOOLEAN)\b| in \[|Excludes")
        run = self.assert_ok("run", "--help")
        for spelling in ("--dims M=4096,N=8", "--in x=x.npy", "--device auto|cpu|N", "--seed N"):
            self.assertIn(spelling, run)

    def test_lines_fit(self):
        for command in self.all_commands():
            for line in self.assert_ok(*command, "--help").split("Examples:")[0].splitlines():
                self.assertLessEqual(len(line), 100, (command, line))

    def test_help_is_that_of_the_command(self):
        for command in ((), ("run",), ("cache",), ("cache", "ls"), ("layout", "composition")):
            with self.subTest(command=command):
                self.assertEqual(
                    self.assert_ok("help", *command), self.assert_ok(*command, "--help")
                )
        self.assert_fails(2, "there is no command 'rnu'; did you mean 'run'?", "help", "rnu")
        self.assert_fails(2, "tilejit cache --help lists them", "help", "cache", "frobnicate")


class Slips(CommandTest):
    def test_are_hinted(self):
        cases = [
            (("run", ADD, "--divice", "cpu"), "tilejit run has no option '--divice'; did you mean '--device'? tilejit run --help"),
            (("run", ADD, "--colour=red"), "tilejit run has no option '--colour'; tilejit run --help lists them"),
            (("cache", "ls", "--al"), "tilejit cache ls has no option '--al'; did you mean '--all'?"),
            (("doctor", "one", "two"), "tilejit doctor takes no further 'one', 'two'; tilejit doctor --help"),
            (("run",), "SPEC is required; tilejit run --help shows the usage"),
            (("tune", ADD, "--budget"), "--budget needs a value: --budget N"),
            (("tune", ADD, "--budget", "red"), "--budget: 'red' is not a whole number from 1 to 1000"),
            (("cache", "ls", "--sort", "sise"), "--sort: 'sise' is not one of used, size, name; did you mean 'size'?"),
            (("completion", "bsh"), "did you mean 'bash'?"),
            (("schema", "complie"), "did you mean 'compile'?"),
            (("run", SYMBOLIC, "--dims", "m=4"), "the spec has no symbol named m; did you mean 'M'?"),
            (("run", SYMBOLIC, "--dims", "Q=4"), "the spec has no symbol named Q; it has M, N"),
            (("run", ADD, "--in", "bb=b.npy"), "the spec has no tensor named bb; did you mean 'b'?"),
            (("run", ADD, "--kernel", "vector_ad"), "no kernel is named 'vector_ad'; did you mean 'vector_add'?"),
            (("run", "a.json", "b.json"), "a.json does not exist"),
        ]  # fmt: skip
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                self.assert_fails(2, message, *arguments)

    def test_of_specs_are_hinted(self):
        x = {"dtype": "f32", "shape": [4, 6]}
        cases = [
            ({"tensors": {"x": {**x, "dtype": "float16"}, "y": x}}, "unknown dtype 'float16'; did you mean 'f16'?"),
            ({"tensors": {"x": {**x, "dtype": "fp16"}, "y": x}}, "did you mean 'f16'?"),
            ({"tensors": {"x": {**x, "dtype": "float32"}, "y": x}}, "did you mean 'f32'?"),
            ({"tensors": {"x": {**x, "strides": [6, 1]}, "y": x}}, "unknown field 'strides'; did you mean 'stride'?"),
            ({"scalars": {"alpha": "f32"}, "formula": "y = x * alhpa"}, "did you mean 'alpha'?"),
        ]  # fmt: skip
        for fields, message in cases:
            with self.subTest(fields=fields):
                self.assert_fails(2, message, "run", self.spec(**fields))

    def test_nothing_silly_is_hinted(self):
        """`and` is one letter away from rand, but is not a function."""
        for formula in ("y = rand(x)", "y = x + r", "y = foo(x)"):
            with self.subTest(formula=formula):
                result = self.assert_fails(2, "unknown", "run", self.spec(formula=formula))
                self.assertNotIn("did you mean", result.stderr)

    def test_a_list_swallows_no_spec(self):
        text = self.assert_ok("run", "--dims", "M=4,N=8", "--device", "cpu", SYMBOLIC, ADD)
        self.assertEqual(text.count("ran on the CPU reference"), 2)


class Completion(CommandTest):
    CASES = [
        ("ru", {"run"}),
        ("cache l", {"ls"}),
        ("cache ls --so", {"--sort"}),
        ("run --device ", {"auto", "cpu"}),
        ("cache ls --sort s", {"size"}),
        ("run x.json --verb", {"--verbose"}),
        ("layout logical_", {"logical_divide", "logical_product"}),
        ("completion ", {"bash", "zsh", "fish"}),
    ]

    def script(self, shell):
        path = self.folder / shell
        path.write_text(self.assert_ok("completion", shell))
        return path

    def shell(self, *command):
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""), command)
        return result.stdout

    def test_bash(self):
        script = self.script("bash")
        self.shell("bash", "-n", script)
        for line, want in self.CASES:
            words = ["tilejit", *line.split(" ")]
            with self.subTest(line=line):
                text = self.shell(
                    "bash", "-c",
                    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tilejit;'
                    ' printf "%s\\n" "${COMPREPLY[@]}"',
                    "bash", script, *words,
                )  # fmt: skip
                self.assertEqual(set(text.split()), want)

    def test_bash_after_an_equals_sign(self):
        text = self.shell(
            "bash", "-c",
            'source "$1"; COMP_WORDS=(tilejit run --device = c); COMP_CWORD=4; _tilejit;'
            ' echo "${COMPREPLY[@]}"',
            "bash", self.script("bash"),
        )  # fmt: skip
        self.assertEqual(text, "cpu\n")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        script = self.script("fish")
        for line, want in self.CASES:
            with self.subTest(line=line):
                text = self.shell(
                    "fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]",
                    script, f"tilejit {line}",
                )  # fmt: skip
                self.assertEqual({row.split("\t")[0] for row in text.splitlines()}, want)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        script = self.script("zsh")
        self.shell("zsh", "-n", script)
        text = self.shell(
            "zsh", "-f", "-c",
            'autoload -U compinit; compinit -D -u; source "$1"; echo $_comps[tilejit];'
            " which _tilejit_cache_ls | head -n 1",
            "zsh", script,
        )  # fmt: skip
        self.assertEqual(text.splitlines(), ["_tilejit", "_tilejit_cache_ls () {"])
        for option in ("--sort", "--target"):
            self.assertIn(f"*{option}[", script.read_text())


class Manual(CommandTest):
    def test_pages(self):
        self.assert_ok("man", "--folder", self.folder)
        pages = {path.name for path in self.folder.glob("*.1")}
        self.assertGreaterEqual(pages, {"tilejit.1", "tilejit-run.1", "tilejit-cache.1"})
        self.assertEqual((self.folder / "tilejit-run.1").read_text(), self.assert_ok("man", "run"))
        page = (self.folder / "tilejit-cache.1").read_text()
        self.assertIn(".SS tilejit cache ls", page)
        self.assertIn("\\fB\\-\\-sort\\fR \\fIused|size|name\\fR", page)

    def test_folder_takes_all(self):
        self.assert_fails(2, "leave out the command", "man", "run", "--folder", self.folder)
        self.assert_fails(1, "could not be written", "man", "--folder", "/nowhere/man1")

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_pages_are_sound(self):
        self.assert_ok("man", "--folder", self.folder)
        for page in sorted(self.folder.glob("*.1")):
            with self.subTest(page=page.name):
                result = subprocess.run(
                    ["mandoc", "-T", "lint", "-W", "warning", page],
                    capture_output=True, text=True, check=False,
                )  # fmt: skip
                kept = [line for line in result.stdout.splitlines() if "missing date" not in line]
                self.assertEqual(kept, [])


class Terminal(CommandTest):
    """What differs on a terminal."""

    def watched(self, *arguments, **environment):
        """The command's standard output and error on a terminal."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        variables = {**os.environ, "TERM": "xterm", "TILEJIT_CACHE_DIR": str(self.cache)}
        variables.pop("NO_COLOR", None)
        process = subprocess.Popen(
            [COMMAND, *map(str, arguments)], stdout=theirs, stderr=theirs,
            env={**variables, **environment},
        )  # fmt: skip
        os.close(theirs)
        text = b""
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                block = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            text += block
        process.wait(timeout=20)
        return text.decode()

    def test_is_coloured(self):
        self.assertIn("\x1b[1mUsage:\x1b[0m tilejit run", self.watched("run", "--help"))
        self.assertIn("\x1b[31mtilejit:\x1b[0m there is", self.watched("rnu"))
        self.assertIn("\x1b[48;2;", self.watched("layout", "show", "Sw<2,0,2> o 0 o (4,4):(4,1)"))

    def test_is_not_coloured_against_the_will(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.subTest(environment=environment):
                for arguments in (("run", "--help"), ("rnu",), ("layout", "show", "8:1")):
                    self.assertNotIn("\x1b[", self.watched(*arguments, **environment))
        self.assertNotIn("\x1b", self.assert_ok("run", "--help"))

    def test_long_runs_say_so_at_once(self):
        text = self.watched("run", SYMBOLIC, "--dims", "M=512,N=512", "--device", "cpu")
        self.assertRegex(text, r" on the CPU reference, \d")
        self.assertLess(text.index("  in "), text.index(" on the CPU reference, "))

    @unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
    def test_candidates_are_counted_at_once(self):
        softmax = CATALOGUE / "softmax.json"
        text = self.watched("tune", softmax, "--dry-run", "--target", "sm_90a", "--budget", 2)
        self.assertRegex(text, r"\[-+\] 0/3")
        self.assertLess(text.index("3 candidates; rows"), text.index("] 0/3"))
        self.assertLess(text.index("] 0/3"), text.index("as planned"))


if __name__ == "__main__":
    unittest.main()
