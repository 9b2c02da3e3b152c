#!/usr/bin/env python3
"""Fail if the main loop of a kernel holds what ruins it.

    check_sass.py kernel.cubin             cubins are disassembled by cuobjdump or nvdisasm: of PATH, of a
                                           toolkit, or as tools/setup --tests installs it
    check_sass.py kernel.sass              the text of `cuobjdump -sass` or `nvdisasm -c`
    check_sass.py --all-loops ...          every innermost loop with tensor instructions
    check_sass.py --expect HGMMA=4 ...     and the main loop has that many of them
    check_sass.py --log ptxas.log ...      and the compiler's log has no spill and no C75xx line

A main loop is an innermost natural loop with tensor instructions (HMMA, IMMA, DMMA, QMMA, OMMA of a warp;
HGMMA, IGMMA, QGMMA of a warpgroup; UTC*MMA of sm_100). In each function the one with most of them is
checked. The whole loop counts, since the wait for a stage and its release lie between the last tensor
instruction of one turn and the first of the next. A function with tensor instructions and no such loop is
checked from the first to the last.

MEMBAR is a fence of memory, which costs a quarter of a matrix product; LDL and STL are spilled registers.
C75xx lines say that the assembler serialised wgmma, or ignored setmaxnreg.

Exit status: 0 clean, 1 something forbidden, 2 no tensor instruction or no disassembler.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter

TENSOR = re.compile(r"\b(UTC[A-Z]*MMA|[HIQ]GMMA|[HIDQO]MMA)\b")
FORBIDDEN = re.compile(r"\b(MEMBAR|LDL|STL)\b")
FUNCTION = re.compile(r"^\s*(?:Function\s*:\s*|\.text\.)([^\s:]+):?\s*$")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+([^;]*[A-Z]{2}[^;]*);")
LABEL = re.compile(r"^\s*(\.L_\w+):\s*$")
JUMP = re.compile(r"^(?P<guard>@!?U?P\w+\s+)?(?:BRA|CALL|BRX)\b(?P<rest>.*)$")
TARGET = re.compile(r"(?:\((\.L_\w+)\)|\b0x([0-9a-f]+))\s*$")
END = re.compile(r"^(EXIT|RET|BRX|KILL)\b")
SPILL = re.compile(r"\b([1-9]\d*) bytes spill (?:stores|loads)")
SERIALISED = re.compile(r"\(C75\d\d\)")
PLACES = ("/usr/local/cuda/bin", str(pathlib.Path(__file__).resolve().parents[2] / ".deps/nvdisasm/bin"))


class NoDisassembler(Exception):
    pass


class Function:
    def __init__(self, name):
        self.name, self.code, self.labels = name, [], {}  # code: (address, text)

    def tensor_instructions(self):
        return [i for i, (_, text) in enumerate(self.code) if TENSOR.search(text)]

    def successors(self):
        """For each instruction, the indices that may follow it."""
        index = {address: i for i, (address, _) in enumerate(self.code)}
        following = []
        for i, (_, text) in enumerate(self.code):
            next_ones = [i + 1] if i + 1 < len(self.code) else []
            jump = JUMP.match(text)
            if jump and not text.startswith("CALL"):
                target = TARGET.search(jump["rest"])
                conditional = jump["guard"] or re.search(r"\bU?P\d", jump["rest"])
                address = target and (self.labels.get(target[1]) if target[1] else int(target[2], 16))
                next_ones = (next_ones if conditional else []) + ([index[address]] if address in index else [])
            elif END.match(text):
                next_ones = []
            following.append(next_ones)
        return following


def find(program):
    return next((found for place in (None, *PLACES) if (found := shutil.which(program, path=place))), None)


def disassemble(path):
    for program, option in (("cuobjdump", "-sass"), ("nvdisasm", "-c")):
        if found := find(program):
            return subprocess.run([found, option, path], check=True, capture_output=True, text=True).stdout
    raise NoDisassembler("neither cuobjdump nor nvdisasm is installed; run tools/setup --tests, or give the SASS text")


def read_sass(path):
    content = pathlib.Path(path).read_bytes()
    return disassemble(path) if content.startswith(b"\x7fELF") else content.decode(errors="replace")


def read_functions(text):
    found, waiting = [], []
    for line in text.splitlines():
        if match := FUNCTION.match(line):
            found.append(Function(match[1]))
            waiting = []
        elif match := LABEL.match(line):
            waiting.append(match[1])
        elif found and (match := INSTRUCTION.match(line)):
            address = int(match[1], 16)
            found[-1].labels.update((label, address) for label in waiting)
            waiting = []
            found[-1].code.append((address, match[2].strip()))
    return found


def reachable(edges, start, without=None):
    """Indices reachable from `start` along `edges` without passing `without`."""
    seen, stack = set(), [start]
    while stack:
        i = stack.pop()
        if i not in seen and i != without:
            seen.add(i)
            stack.extend(edges[i])
    return seen


def natural_loops(function):
    """{header: body} over all back edges u -> header, where the header dominates u."""
    following = function.successors()
    preceding = [[] for _ in following]
    for i, next_ones in enumerate(following):
        for j in next_ones:
            preceding[j].append(i)
    loops = {}
    for u, next_ones in enumerate(following):
        for header in next_ones:
            if header <= u and (header == u or u not in reachable(following, 0, without=header)):
                body = {header} | reachable(preceding, u, without=header)
                loops[header] = loops.get(header, set()) | body
    return loops


def main_loops(function, every):
    tensor = set(function.tensor_instructions())
    bodies = [body for body in natural_loops(function).values() if body & tensor]
    innermost = [body for body in bodies if not any(other < body for other in bodies)]
    if not innermost:
        return [set(range(min(tensor), max(tensor) + 1))]
    return innermost if every else [max(innermost, key=lambda body: len(body & tensor))]


class Loop:
    def __init__(self, function, body):
        self.name = function.name
        self.code = [function.code[i] for i in sorted(body)]
        self.forbidden = [(address, text) for address, text in self.code if FORBIDDEN.search(text)]
        self.tensor = Counter(match[1] for _, text in self.code if (match := TENSOR.search(text)))

    def faults(self, expected):
        """What is wrong with it, a line each."""
        lines = [f"{address:#06x}  {text}" for address, text in self.forbidden]
        if expected is not None and self.tensor != expected:
            lines.append(f"{describe(expected)} expected")
        return lines


def describe(counts):
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def loops_of(text, every=False):
    return [Loop(function, body) for function in read_functions(text) if function.tensor_instructions()
            for body in main_loops(function, every)]


def faults_of_log(text):
    return [line.strip() for line in text.splitlines() if SPILL.search(line) or SERIALISED.search(line)]


def parse_counts(text):
    """HGMMA=4,HMMA=2"""
    try:
        return Counter({name: int(count) for name, count in (one.split("=") for one in text.split(","))})
    except ValueError:
        raise argparse.ArgumentTypeError("write NAME=COUNT, as HGMMA=4; several separated by commas") from None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="+", help="cubin or SASS text")
    parser.add_argument("--all-loops", action="store_true")
    parser.add_argument("--expect", type=parse_counts, metavar="NAME=COUNT")
    parser.add_argument("--log", action="append", default=[])
    args = parser.parse_args()
    try:
        found = [loop for path in args.path for loop in loops_of(read_sass(path), args.all_loops)]
    except NoDisassembler as error:
        print(f"check_sass: {error}", file=sys.stderr)
        return 2
    if not found:
        print("check_sass: no tensor instruction found", file=sys.stderr)
        return 2
    count = 0
    for loop in found:
        faults = loop.faults(args.expect)
        print(f"{loop.name}: loop at {loop.code[0][0]:#06x}, {len(loop.code)} instructions, {describe(loop.tensor)}: "
              f"{f'{len(faults)} faults' if faults else 'clean'}", *(f"\n  {line}" for line in faults), sep="")
        count += len(faults)
    for path in args.log:
        faults = faults_of_log(pathlib.Path(path).read_text())
        print(*(f"{path}: {line}\n" for line in faults), sep="", end="")
        count += len(faults)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
