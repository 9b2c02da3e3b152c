"""Runs the console blocks of Markdown pages and compares what is printed with what is shown.

The commands of a page share one shell, in a scratch folder with links to the checkout's examples/
and bench/, a copy of docs/gallery/, and a link to the build as build/ci. The tag of a block says where it runs:

    ```console          everywhere, with the GPU hidden
    ```console gpu      with --gpu, on a machine with a GPU
    ```console norun    nowhere

A line `...` stands for any lines. Figures that vary are masked (MASKS, GPU_MASKS). A block that
shows no output at all is only run. A command that shows a line `tilejit: ...` must fail, any other
must succeed. A block "```tl NAME" is a file of that name, which the page's commands find.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("cache/*.md")])
SHOWN_FOLDER = "/home/me"  # the scratch folder, in what is shown
SKIPPED = 77  # the exit code that ctest reads as a skip
TAGS = ("", "gpu", "norun")
KEPT = ("TILEJIT_NVRTC", "TILEJIT_NO_TOOLKIT")  # of the environment's TILEJIT_...

MASKS = (
    (r"0x[0-9a-f]{8,}", "0x?"),
    (r"\b[0-9a-f]{12,64}\b", "#"),
    (r"\b(plan|key|lookup|render|nvrtc|publish|load) \d+\.\d\d\b", r"\1 ?"),
    (r"\b\d+(\.\d+)? (ms|s)\b", r"? \2"),
    (r"\(\d+ a second\)", "(? a second)"),
    (r"\b\d+(\.\d+)? (bytes|[KM]B), \d+ registers", "? KB, ? registers"),
    (r"\b\d+ registers", "? registers"),
    (r"^(no GPU|on the CPU|not launched): .*", r"\1"),
)
GPU_MASKS = (
    *MASKS,
    (r"\b\d+(\.\d+)?(?= (GB/s|us|launches)\b| %)", "?"),
    (r"\b(min|p90) \d+\.\d+(, noisy)?", r"\1 ?"),
    (r"\blaunched on [^,]+", "launched on ?"),
)


@dataclasses.dataclass
class Command:
    line: int  # of the page, from 1
    text: str
    output: list[str]

    def shows_failure(self) -> bool:
        return any(line.startswith("tilejit: ") for line in self.output)


@dataclasses.dataclass
class Block:
    line: int
    tag: str
    commands: list[Command]

    def shows_output(self) -> bool:
        return any(command.output for command in self.commands)


@dataclasses.dataclass
class Result:
    code: int
    output: list[str]


def blocks_of(page: pathlib.Path) -> list[Block]:
    """The console blocks of a page, including those that are never run."""
    blocks: list[Block] = []
    inside = False
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if line.startswith("```console"):
            tag = line.removeprefix("```console").strip()
            if tag not in TAGS:
                raise ValueError(f"{page}:{number}: unknown tag '{tag}' of a console block")
            blocks.append(Block(number, tag, []))
            inside = True
        elif line.startswith("```"):
            inside = False
        elif inside and line.startswith("$ "):
            blocks[-1].commands.append(Command(number, line[2:], []))
        elif inside and blocks[-1].commands:
            blocks[-1].commands[-1].output.append(line)
    return blocks


def files_of(page: pathlib.Path) -> dict[str, str]:
    """The texts of the page's blocks that are files, by their names."""
    found = re.findall(r"^```tl (\S+)\n(.*?)^```$", page.read_text(), re.M | re.S)
    if len(found) != len(dict(found)):
        raise ValueError(f"{page}: two blocks are files of one name")
    return dict(found)


def scratch_folder(folder: pathlib.Path, tilejit: pathlib.Path) -> dict[str, str]:
    """Fills the folder and returns the environment of its shell."""
    (folder / "build").mkdir()
    shutil.copytree(ROOT / "docs" / "gallery", folder / "docs" / "gallery")  # where pictures go
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "bench").symlink_to(ROOT / "bench")
    (folder / "build" / "ci").symlink_to(tilejit.parents[1])
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TILEJIT_") or k in KEPT}
    return {
        **kept,
        "PATH": f"{tilejit.parent}:{os.environ['PATH']}",
        "TILEJIT_CACHE_DIR": str(folder / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(
    commands: list[Command], tilejit: pathlib.Path, gpu: bool, files: dict[str, str] | None = None
) -> list[Result]:
    """Runs the commands one after another in one shell; fewer results if a command ends it."""
    script = "".join(f"{command.text}\nprintf '\\001%s\\n' $?\n" for command in commands)
    with tempfile.TemporaryDirectory() as name:
        environment = scratch_folder(pathlib.Path(name), tilejit)
        for file, text in (files or {}).items():
            (pathlib.Path(name) / file).write_text(text)
        if not gpu:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        printed = subprocess.run(
            ["bash", "-c", script],
            cwd=name,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=280,
            check=False,
        ).stdout.replace(name, SHOWN_FOLDER)
    parts = re.split(r"\x01(\d+)\n", printed)
    return [Result(int(code), text.splitlines()) for text, code in zip(parts[0::2], parts[1::2])]


def masked(line: str, gpu: bool) -> str:
    for pattern, replacement in GPU_MASKS if gpu else MASKS:
        line = re.sub(pattern, replacement, line)
    return line


def difference(shown: list[str], printed: list[str], gpu: bool) -> tuple[int, str] | None:
    """The first line of `shown` that is not printed, counted from 0, and the line printed there."""
    place, skip = 0, False
    lines = [masked(line, gpu) for line in printed]
    for number, line in enumerate(shown):
        if line == "...":
            skip = True
            continue
        wanted = masked(line, gpu)
        if skip and wanted in lines[place:]:
            place = lines.index(wanted, place)
        elif place == len(lines) or lines[place] != wanted:
            return number, printed[place] if place < len(lines) else "nothing"
        place, skip = place + 1, False
    if place < len(lines) and not skip:
        return len(shown), printed[place]
    return None


def faults_of(page: pathlib.Path, tilejit: pathlib.Path, gpu: bool = False) -> list[str]:
    """The differences from what the page shows, each with file and line."""
    name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
    blocks = [block for block in blocks_of(page) if block.tag == ("gpu" if gpu else "")]
    pairs = [(block, command) for block in blocks for command in block.commands]
    results = run([command for _, command in pairs], tilejit, gpu, files_of(page))
    faults = []
    for (block, command), result in zip(pairs, results):
        if (result.code != 0) != command.shows_failure():
            fault = f"ended with {result.code}:\n" + "\n".join(result.output)
            faults.append(f"{name}:{command.line}: $ {command.text}\n  {fault}")
        elif block.shows_output():
            found = difference(command.output, result.output, gpu)
            if found:
                number, printed = found
                shown = (command.output + ["nothing"])[number]
                fault = f"shown:   {shown}\n  printed: {printed}"
                faults.append(f"{name}:{command.line + 1 + number}: $ {command.text}\n  {fault}")
    if len(results) < len(pairs):
        ended = pairs[len(results)][1]
        faults.append(f"{name}:{ended.line}: $ {ended.text}\n  ended the shell")
    return faults


def finds(tilejit: pathlib.Path, what: str) -> bool:
    """Whether `tilejit doctor` finds "nvrtc" or "driver"."""
    done = subprocess.run(
        [str(tilejit), "doctor", "--json"], capture_output=True, text=True, check=False
    )
    return bool(json.loads(done.stdout)[what]["found"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=pathlib.Path, nargs="*", default=PAGES)
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build/ci/bin/tilejit")
    parser.add_argument("--gpu", action="store_true", help="run the gpu blocks instead")
    arguments = parser.parse_args()
    tilejit = arguments.command.resolve()
    if arguments.gpu and not finds(tilejit, "driver"):
        print("skipped: there is no GPU")
        sys.exit(SKIPPED)
    faults = []
    for page in arguments.pages:
        faults += faults_of(page, tilejit, arguments.gpu)
    print("\n".join(faults) or "all blocks print what they show")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
