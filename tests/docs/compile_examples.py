"""Compiles the C++ examples of a page: each fenced block is the body of a function.

A block that defines names for later blocks says so: all blocks of a page are one function, each in
a scope of its own but for those marked ```cpp setup.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```cpp( setup)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def program(page):
    """The page's blocks as one C++ source."""
    parts = []
    blocks = BLOCK.findall(page)
    if not blocks:
        sys.exit("the page has no example")
    for setup, text in blocks:
        parts.append(text if setup else "{\n" + text + "}\n")
    includes = "".join(
        line + "\n" for part in parts for line in part.splitlines() if line.startswith("#include")
    )
    body = "".join(
        line + "\n" for part in parts for line in part.splitlines() if not line.startswith("#include")
    )
    return (
        "#include <cstdint>\n#include <cstdio>\n#include <fstream>\n#include <vector>\n"
        + includes
        + "void examples() {\n"
        + body
        + "}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--include", action="append", default=[])
    arguments = parser.parse_args()
    source = program(arguments.page.read_text())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "examples.cpp"
        path.write_text(source)
        command = [arguments.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
        command += ["-Wno-unused-variable", "-Wno-unused-but-set-variable"]
        command += [f"-I{folder}" for folder in arguments.include]
        result = subprocess.run([*command, str(path)], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr + "\n" + source)


if __name__ == "__main__":
    main()
