"""Runs as `tilejit bench --json` writes them, made up: no GPU is needed to show them."""

TIMES = ("min_ms", "p10_ms", "p25_ms", "median_ms", "p75_ms", "p90_ms", "p99_ms", "max_ms")


def row(kernel, axes, milliseconds, *, bytes=1 << 20, operations=1 << 19, error=0.001, **changed):
    """One kernel at one point; `error` is half the confidence interval's part of the median."""
    time = dict.fromkeys(TIMES, milliseconds)
    time |= {"samples": 50, "launches": 50, "noisy": error > 0.005}
    time |= {"low_ms": milliseconds * (1 - error), "high_ms": milliseconds * (1 + error)}
    return {
        "kernel": kernel,
        "axes": axes,
        "time": time,
        "bytes": bytes,
        "operations": operations,
        "copy_gigabytes_per_second": 2900.0,
        "read_gigabytes_per_second": 3100.0,
        "resources": {
            "registers": 24,
            "local_bytes": 0,
            "shared_bytes": 0,
            "threads": 256,
            "blocks_per_sm": 8,
        },
        "occupancy": 1.0,
        "bytes_in_flight_needed": 7700.0,
        "bytes_in_flight_issued": 65536.0,
        "workspaces": 4,
        "cold": True,
        **changed,
    }


def run(*rows, **changed):
    return {
        "tilejit_bench": 1,
        "device": "Some GPU",
        "target": "sm_90a",
        "timed_in": "stream",
        "l2": "cold",
        "rows": list(rows),
        **changed,
    }


def sweep():
    """Two dtypes over sizes that grow by factors of four."""
    rows = []
    for index, size in enumerate((1024, 4096, 16384, 65536, 262144, 1048576)):
        for dtype, width in (("f16", 2), ("f32", 4)):
            moved = 2 * width * 4096 * size // 16
            speed = 2850 * moved / (moved + 6e6 + 2e5 * index)  # GB/s
            rows.append(
                row(
                    "softmax",
                    {"M": str(size), "dtype": dtype},
                    moved / speed / 1e6,
                    bytes=moved,
                    operations=5 * moved // width,
                )
            )
    return run(*rows)
