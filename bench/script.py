"""Code that the scripts share. Errors are reported in one sentence instead of a traceback."""

import argparse
import json
import os
import pathlib
import subprocess
import sys


def sentence(error):
    """What went wrong and what to do, for errors caused by the machine or the command line."""
    if isinstance(error, ModuleNotFoundError):
        return f"Python's module {error.name} is not installed; install it for {sys.executable}"
    if isinstance(error, subprocess.CalledProcessError):
        text = error.stderr or b""
        lines = (text.decode(errors="replace") if isinstance(text, bytes) else text).strip().splitlines()
        return f"{error.cmd[0]} ended with code {error.returncode}" + (f": {lines[-1]}" if lines else "")
    if isinstance(error, json.JSONDecodeError):
        return "a program did not print the JSON that this script reads; build programs and script from one checkout"
    if isinstance(error, FileNotFoundError) and error.filename:
        return (
            f"{error.filename} does not exist; --help says how it is built, "
            "and which option names another place"
        )
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def library_of(build):
    """The shared library of a build. A copy of the build's folder may lack the symbolic links."""
    found = sorted(build.glob("libtilejit.so*"))
    if not found:
        raise RuntimeError(f"{build}/libtilejit.so is not there; build it, or name another folder by --build")
    return found[0].resolve()


def tilejit_of(build):
    """The module tilejit_ctypes, using the library of that build unless TILEJIT_LIBRARY names another."""
    os.environ.setdefault("TILEJIT_LIBRARY", str(library_of(build)))
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples" / "python"))
    import tilejit_ctypes

    return tilejit_ctypes


def candidates_of(build, spec, budget, jobs):
    """What `tilejit tune` tries for a spec of one kernel on sm_90a, the plan itself first, each with its tuning,
    figures and artifact; the kernels are in the cache afterwards."""
    command = [build / "bin" / "tilejit", "tune", "--dry-run", "--target", "sm_90a", "--json", "-j", str(jobs)]
    command += ["--budget", str(budget), "-"]
    done = subprocess.run(command, input=json.dumps(spec).encode(), capture_output=True, check=True)
    return json.loads(done.stdout)["kernels"][0]["candidates"]


def count(text):
    """A type for argparse: a whole number above 0."""
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def counts(text):
    """A type for argparse: whole numbers above 0, separated by commas."""
    return [count(part) for part in text.split(",")]


def run(main):
    """Runs the script. Errors of its environment end it with code 1 and one sentence."""
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # nobody reads the output; otherwise Python would complain again at exit
    except (OSError, RuntimeError, ImportError, subprocess.SubprocessError, json.JSONDecodeError) as error:
        sys.exit(f"{sys.argv[0].rsplit('/', 1)[-1]}: {sentence(error)}")
