"""What a sweep's records say: ratios, quantiles, worst cases, errors of predictions."""

import collections
import json
import math
import statistics

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95)
SIZES = ((0, "below 1 MB"), (1e6, "1 to 10 MB"), (1e7, "10 to 100 MB"), (1e8, "100 MB and more"))


def load(files):
    """Records of the files, which are JSON lines."""
    records = []
    for file in files:
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            try:
                record = json.loads(line)
                record["seed"], record["index"], record["us"], record["failed"]
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise RuntimeError(f"{file}, line {number} is not a record of bench/sweep.py: {error}") from error
            records.append(record)
    return records


def ratio(record, peer="compiled"):
    """How many times as long the peer takes; None if one of the two failed."""
    us = record["us"]
    return us[peer] / us["ours"] if peer in us and "ours" in us else None


class Measured:
    """One case: its last first measurement, and the repeats that followed."""

    def __init__(self, records):
        firsts = [i for i, record in enumerate(records) if record["repeat"] == 0]
        self.first = records[firsts[-1]] if firsts else records[0]
        self.repeats = records[firsts[-1] + 1 :] if firsts else records[1:]

    def again(self, peer="compiled"):
        """The median of the repeats; the first measurement if there are none. The first is left out
        otherwise, since it was repeated for being low."""
        ratios = [found for found in (ratio(record, peer) for record in self.repeats) if found]
        return statistics.median(ratios) if ratios else ratio(self.first, peer)


def measured(records):
    by_case = collections.defaultdict(list)
    for record in records:
        by_case[record["seed"], record["index"]].append(record)
    return [Measured(of_case) for of_case in by_case.values()]


def quantile(values, part):
    """Interpolated, as NumPy does."""
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def ratio_rows(cases):
    rows = {
        "torch.compile / ours": [ratio(case.first) for case in cases],
        "the same after repeats": [case.again() for case in cases],
        "eager / ours": [ratio(case.first, "eager") for case in cases],
    }
    yield "| | cases | geometric mean | least |" + "".join(f" {part:.0%} |" for part in QUANTILES[1:])
    yield "|---|" + "---|" * (2 + len(QUANTILES))
    for label, values in rows.items():
        values = [value for value in values if value]
        if values:
            cells = (f" {quantile(values, part):.2f} |" for part in QUANTILES)
            yield f"| {label} | {len(values)} | {geometric_mean(values):.3f} |" + "".join(cells)


def errors_of(cases):
    errors = [case.first.get("predicted_error") for case in cases]
    return [abs(error) for error in errors if error is not None]


def size_of(case):
    return [label for least, label in SIZES if case.first["bytes"] >= least][-1]


def group_rows(cases, title, key):
    """A row for each value of `key`, slowest against torch.compile first."""
    groups = collections.defaultdict(list)
    for case in cases:
        if ratio(case.first):
            groups[key(case)].append(case)
    yield f"| {title} | cases | geometric mean | least | GB/s | predicted: error | 90 % |"
    yield "|---|---|---|---|---|---|---|"
    means = {name: geometric_mean([ratio(case.first) for case in group]) for name, group in groups.items()}
    for name in sorted(means, key=means.get):
        group = groups[name]
        least = min(ratio(case.first) for case in group)
        speed = statistics.median(case.first["gbps"] for case in group)
        yield f"| {name} | {len(group)} | {means[name]:.3f} | {least:.2f} | {speed:.0f} | {error_cells(group)} |"


def error_cells(cases):
    errors = errors_of(cases)
    return f"{statistics.median(errors):.1%} | {quantile(errors, 0.9):.1%}" if errors else " | "


def worst_of(cases, count):
    known = [case for case in cases if case.again()]
    return sorted(known, key=Measured.again)[:count]


def worst_rows(cases, count):
    yield "| ratio | again | ours, us | GB/s | predicted, us | family | seed/index | case |"
    yield "|---|---|---|---|---|---|---|---|"
    for case in worst_of(cases, count):
        r = case.first
        again = f"{case.again():.2f}" if case.repeats else ""
        predicted = f"{r['predicted_us']:.1f}" if r.get("predicted_us") else ""
        yield (
            f"| {ratio(r) or math.nan:.2f} | {again} | {r['us']['ours']:.2f} | {r['gbps']:.0f} | {predicted} "
            f"| {r.get('family', '')} | {r['seed']}/{r['index']} | {r['title']} |"
        )


def failure_rows(cases):
    for case in cases:
        for what, why in case.first["failed"].items():
            r = case.first
            yield f"- {r['seed']}/{r['index']} {what}: {why} ({r['title']})"


def summary(records, count=20):
    """Lines of Markdown."""
    cases = measured(records)
    if not cases:
        yield "no records"
        return
    seeds = sorted({case.first["seed"] for case in cases})
    wrong = sum("wrong" in case.first["failed"] for case in cases)
    whole = sum(len(case.first["us"]) == 3 for case in cases)
    devices = ", ".join(sorted({case.first.get("device", "?") for case in cases}))
    yield (
        f"{len(cases)} cases of seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))} on {devices}: "
        f"{whole} measured against both, {wrong} with wrong results"
    )
    for rows in (
        ratio_rows(cases),
        [
            f"predicted against measured, |error|: median and 90 % of {len(errors_of(cases))} cases: {error_cells(cases)}"
        ],
        group_rows(cases, "size", size_of),
        group_rows(cases, "kind", lambda case: case.first["kind"]),
        group_rows(cases, "family", lambda case: case.first.get("family", "")),
        worst_rows(cases, count),
        failure_rows(cases),
    ):
        yield ""
        yield from rows


def write_specs(records, folder, count=20):
    """The worst cases as spec files; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for place, case in enumerate(worst_of(measured(records), count), start=1):
        r = case.first
        paths.append(folder / f"{place:02}_{r['kind']}_{r['seed']}_{r['index']}.json")
        description = f"{case.again():.2f} of torch.compile's speed; {r['title']}"
        paths[-1].write_text(json.dumps({**r["spec"], "description": description}, indent=1) + "\n")
    return paths
