"""Random extents: what a case's tensors measure."""

import math

MANY_BYTES = 1 << 30  # of a case; twice as many elements lie in memory while it is timed
ALIGNED = (64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 5120, 8192, 11008, 16384, 32000, 65536)
USUAL = (10, 12, 48, 80, 96, 100, 120, 200, 224, 360, 500, 640, 1000, 1200, 1920, 3000, 10000, 50000)
ODD = (3, 5, 7, 9, 17, 33, 49, 77, 197, 257, 333, 513, 1023, 1025, 2047, 4095, 4097, 8191, 50257, 100003)


def random_bytes(rng):
    """Mostly 10 to 400 MB, which takes a GPU tens to hundreds of microseconds."""
    classes = ((0.12, 1e3, 1e6), (0.12, 1e6, 1e7), (0.66, 1e7, 4e8), (0.10, 4e8, 9e8))
    _, least, most = rng.choices(classes, [weight for weight, *_ in classes])[0]
    return math.exp(rng.uniform(math.log(least), math.log(most)))


def random_extent(rng, style, most):
    """An extent of at most `most`, from 2 on: a usual one, or any."""
    most = max(2, int(most))
    least = max(2, most // 64)
    usual = [extent for extent in {"aligned": ALIGNED, "odd": ODD, "usual": USUAL}[style] if least <= extent <= most]
    if usual and rng.random() < 0.7:
        return rng.choice(usual)
    extent = int(math.exp(rng.uniform(math.log(least), math.log(most))))
    if style == "aligned":
        return extent - extent % 8 if extent >= 8 else 1 << (extent.bit_length() - 1)
    return extent | 1 if style == "odd" and extent < most else extent


def random_extents(rng, rank, elements):
    """`rank` extents with a product of about `elements`. One of them, mostly the first, takes what
    the others leave."""
    style = rng.choices(("aligned", "odd", "usual"), (0.4, 0.38, 0.22))[0]
    rest = 0 if rng.random() < 0.65 else rng.randrange(rank)
    extents = [1] * rank
    left = max(2.0, elements)
    for axis in rng.sample([axis for axis in range(rank) if axis != rest], rank - 1):
        of_axis = style if rng.random() < 0.8 else rng.choice(("aligned", "odd", "usual"))
        extents[axis] = random_extent(rng, of_axis, left ** rng.uniform(0.25, 0.75))
        left = max(1.0, left / extents[axis])
    extents[rest] = max(1, round(left))
    if style == "aligned" and extents[rest] >= 8:
        extents[rest] -= extents[rest] % 8
    return tuple(extents)
