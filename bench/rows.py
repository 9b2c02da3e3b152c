"""A table with a row for each kernel, measured beside its peers: the options of such a script, and what it prints."""

import argparse
import json
import pathlib

import script

ROOT = pathlib.Path(__file__).resolve().parents[1]


def parser_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="folder of a build")
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--start", type=int, default=0, help="the first row, from 0")
    parser.add_argument("--count", type=script.count, help="how many rows")
    parser.add_argument("--json", type=pathlib.Path, help="file to which a line per row is appended")
    return parser


def chosen(rows, options, name):
    """Those that the options ask for. name(row) is what --only looks into."""
    rows = [row for row in rows if options.only in name(row)]
    return rows[options.start :][: options.count]


def runtime_of(options):
    return script.tilejit_of(options.build).Runtime({"device": 0, "tuning_file": None})


def print_head(*columns):
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))


def print_row(options, cells, right, record):
    """The cells, then whether the results are right; and `record` for the file of --json."""
    print("| " + " | ".join(map(str, cells)) + f" | {'yes' if right else '**no**'} |", flush=True)
    if options.json:
        with open(options.json, "a") as out:
            out.write(json.dumps({**record, "right": right}) + "\n")
