"""docs/deploying.md: every command of the page, in its order."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from support import CATALOGUE, COMMAND, ROOT, CommandTest, run

HAVE_NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]["found"]


def sections(text):
    """(title, [command]) of each section that has console blocks."""
    for part in re.split(r"(?m)^## ", text)[1:]:
        blocks = re.findall(r"(?ms)^```console\n(.*?)^```", part)
        commands = [line[2:] for block in blocks for line in block.splitlines() if line[:2] == "$ "]
        if commands:
            yield part.splitlines()[0], commands


@unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
class Deploying(CommandTest):
    def copy_specs(self):
        for name in ("softmax", "layernorm"):
            (self.folder / f"{name}.json").write_text((CATALOGUE / f"{name}.json").read_text())
        tensor = {"dtype": "f16", "shape": [1024]}
        (self.folder / "gelu.json").write_text(
            json.dumps({"name": "gelu", "tensors": {"x": tensor, "y": tensor}, "formula": "y = gelu(x)"})
        )

    def test_every_command(self):
        self.copy_specs()
        (self.folder / "empty").mkdir()
        page = (ROOT / "docs" / "deploying.md").read_text()
        script = ["set -u"]
        expected = []
        for title, commands in sections(page):
            if title == "The run image":
                script.append(f"export TILEJIT_NVRTC={self.folder}/empty")
            for command in commands:
                script += [f"{command}", 'printf "\\001%s\\n" "$?"']
                expected.append((title, command, 1 if "# exit code 1" in command else 0))
        environment = {
            **os.environ,
            "PATH": f"{pathlib.Path(COMMAND).parent}:{os.environ['PATH']}",
            "TILEJIT_CACHE_DIR": str(self.cache),
        }
        done = subprocess.run(
            ["bash", "-c", "\n".join(script)], cwd=self.folder, env=environment, text=True,
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        codes = [int(code) for code in re.findall(r"\x01(\d+)\n", done.stdout)]
        self.assertEqual(len(codes), len(expected), done.stderr)
        for code, (title, command, wanted) in zip(codes, expected):
            self.assertEqual(code, wanted, f"{title}: {command}\n{done.stdout}\n{done.stderr}")
        self.assertGreater(len(expected), 12)
        self.assertIn("compiling is forbidden (TILEJIT_MISS=error)", done.stderr)
        for marker in ("warmed", "shard1", "shard2"):
            self.assertTrue(json.loads((self.folder / f"{marker}.json").read_text())["complete"])

    def test_output_shown_is_what_is_printed(self):
        """The sentence of the miss that the page quotes."""
        self.copy_specs()
        result = self.run_command(
            "compile", self.folder / "gelu.json", "--target", "sm_90a", TILEJIT_MISS="error"
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn(result.stderr.strip(), (ROOT / "docs" / "deploying.md").read_text())


if __name__ == "__main__":
    unittest.main()
