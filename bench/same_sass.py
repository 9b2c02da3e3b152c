#!/usr/bin/env python3
"""Compares the machine code of the kernels that two builds of the tilejit command make.

    bench/same_sass.py /tmp/before/tilejit build/ci/bin/tilejit
    bench/same_sass.py OLD NEW --only softmax --target sm_90a --keep /tmp/sass    # keeps both texts of what differs

Takes the golden specs, the catalogue, examples/specs and examples/cuda, each in full and as the first build of
tiered, for sm_80, sm_90a and sm_120a. Needs no GPU. Code is the same if the instructions of all functions are
the same bytes, in the same order, with as much shared memory and the same constants; names are not compared.
What differs is disassembled, if there is an nvdisasm: in the path, in TILEJIT_NVDISASM, or in a toolkit. A kernel
that only one build can render is named, and is no difference; files with several kernels are left out. Ends with
code 1 if anything differs. NVRTC is taken from TILEJIT_NVRTC or the loader's path.
"""

import argparse
import ctypes
import difflib
import multiprocessing
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import catalogue_nvrtc
import script

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGETS = ("sm_80", "sm_90a", "sm_120a")
FOLDERS = ("tests/golden/*.spec.json", "examples/catalogue/*.json", "examples/specs/*.json", "examples/cuda/*.json")
LIGHT = "--Ofast-compile=min"  # as the library compiles the first build of tiered


def render(command, spec, target, light):
    """The source, or None if this build has none for it."""
    allowed = ["--allow-source"] if spec.parent.name == "cuda" else []
    line = [command, "render", spec, "--target", target, "--no-tuning", *(["--light"] if light else []), *allowed]
    done = subprocess.run(line, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def cubin_of(nvrtc, source, target, light):
    options = [f"--gpu-architecture={target}", *catalogue_nvrtc.OPTIONS, *([LIGHT] if light else [])]
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), array) != 0:
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"NVRTC could not compile a kernel for {target}: {log.value.decode(errors='replace')}")
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, cubin)
        return cubin.raw
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def code_of(cubin):
    """What decides how a cubin runs: kinds, sizes and bytes of its sections of code, constants and shared memory."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    entry_bytes, count, names_index = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + i * entry_bytes) for i in range(count)]
    names = headers[names_index][4]
    code = []
    for name, kind, _, _, offset, size, *_ in headers:
        begin = names + name
        text = cubin[begin : cubin.index(b"\0", begin)].decode()
        # nv.constant4 has addresses of variables, also of constexpr ones that no instruction reads.
        found = re.match(r"\.(text|nv\.constant[0-35-9]|nv\.shared|nv\.local)\b", text)
        if found:
            nobits = kind == 8
            code.append((found[1], size, b"" if nobits else cubin[offset : offset + size]))
    return code


def instructions(disassembler, cubin):
    """Instructions line by line, without addresses and encodings. Names of functions are numbered."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = subprocess.run([disassembler, "-c", file.name], capture_output=True, check=True, text=True).stdout
    numbers = {}
    lines = []
    for line in text.splitlines():
        found = re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?;)", line)
        if found:
            lines.append(re.sub(r"_Z\w+", lambda name: f"f{numbers.setdefault(name[0], len(numbers))}", found[1]))
    return lines


class Comparison:
    """Compares one spec for one target. Workers have one each."""

    def __init__(self, options):
        self.options = options
        self.nvrtc = catalogue_nvrtc.load_nvrtc()

    def __call__(self, spec, target, light):
        """None if the code is the same; else what differs."""
        old, new = (render(command, spec, target, light) for command in (self.options.old, self.options.new))
        if old is None or new is None:
            return None if old == new else f"rendered only by the {'new' if old is None else 'old'} build"
        if old == new:
            return None
        cubins = [cubin_of(self.nvrtc, source, target, light) for source in (old, new)]
        if code_of(cubins[0]) == code_of(cubins[1]):
            return None
        return "DIFFERS: " + self.difference(cubins, f"{spec.name.split('.')[0]}{'.light' if light else ''}.{target}")

    def difference(self, cubins, name):
        if self.options.disassembler is None:
            return "for want of nvdisasm nothing more is known"
        texts = [instructions(self.options.disassembler, cubin) for cubin in cubins]
        if self.options.keep:
            for text, age in zip(texts, ("old", "new")):
                (self.options.keep / f"{name}.{age}.sass").write_text("\n".join(text) + "\n")
        opcodes = [[re.sub(r"^@\S+ ", "", line).split()[0] for line in text] for text in texts]
        changed = sum(
            max(end - begin, other_end - other)
            for tag, begin, end, other, other_end in difflib.SequenceMatcher(None, *opcodes, autojunk=False).get_opcodes()
            if tag != "equal"
        )
        return f"{len(texts[0])} -> {len(texts[1])} instructions, {changed} other operations" + (
            "" if changed else ": other registers, operands or constants"
        )


def start(options):
    global compare  # of this worker
    compare = Comparison(options)


def one(job):
    return job, compare(*job)


def find_disassembler():
    named = os.environ.get("TILEJIT_NVDISASM") or shutil.which("nvdisasm") or "/usr/local/cuda/bin/nvdisasm"
    return named if os.access(named, os.X_OK) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--target", action="append", help="instead of all three; may be repeated")
    parser.add_argument("--only", default="", help="specs whose file names contain this")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the instructions of what differs")
    parser.add_argument("-j", type=script.count, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    options.disassembler = find_disassembler()
    catalogue_nvrtc.load_nvrtc()  # here, since the pool replaces workers that cannot start, without end
    for command in (options.old, options.new):
        if not os.access(command, os.X_OK):
            raise RuntimeError(f"{command} cannot be run; build the target tilejit_command")
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    specs = sorted(path for pattern in FOLDERS for path in ROOT.glob(pattern) if options.only in path.name)
    jobs = [(spec, target, light) for spec in specs for target in options.target or TARGETS for light in (False, True)]
    differ = 0
    with multiprocessing.Pool(options.j, start, [options]) as pool:
        for (spec, target, light), found in pool.imap(one, jobs, chunksize=4):
            if found is None:
                continue
            differ += found.startswith("DIFFERS")
            print(f"{spec.relative_to(ROOT)} {target}{' light' if light else ''}: {found}", flush=True)
    print(f"{len(specs)} specs, {len(jobs)} kernels or programs: {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    script.run(main)
