"""Times work that PyTorch can capture: several launches in a CUDA graph, and several graphs in turns."""

import collections
import math
import statistics

AT_LEAST_US = 4000  # per graph; starting one costs up to 50
ROUNDS = 7


def graph_of(torch, run, launches, sets=1):
    """A graph of `run(0)`, `run(1)`, ... with numbers below `sets`. The result of `run` stays alive until its
    number's next turn, so that results take turns in memory, too."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run(0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    kept = collections.deque(maxlen=sets)
    with torch.cuda.graph(graph, stream=stream):
        for i in range(launches):
            kept.append(run(i % sets))
    return graph


def replay_us(torch, graph):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3


def launches_of(least_us, sets, at_least_us=AT_LEAST_US):
    """The number of launches with which a graph takes at least that long and goes through all sets, unless
    all sets would take far longer."""
    return math.ceil(max(at_least_us / least_us, min(sets, 10 * at_least_us / least_us)))


def timed_graph(torch, run, sets=1, at_least_us=AT_LEAST_US):
    """A graph that runs long enough to be timed, and its number of launches."""
    few = max(2, min(sets, 20))
    once = graph_of(torch, run, few, sets)
    least = min(replay_us(torch, once) for _ in range(3)) / few
    del once
    launches = launches_of(max(least, 0.5), sets, at_least_us)
    return graph_of(torch, run, launches, sets), launches


def turns(torch, graphs, rounds=ROUNDS, order=None):
    """Microseconds per launch of each round, by the names of `graphs`, which come from timed_graph. Graphs are
    replayed in turns, so that clocks affect all alike; `order`, a random.Random, shuffles the turns of each
    round. Each is replayed once untimed before it is timed, so that the L2 cache holds what its own launches
    leave there."""
    times = {name: [] for name in graphs}
    for _ in range(rounds):
        in_order = list(graphs.items())
        if order:
            order.shuffle(in_order)
        for name, (graph, launches) in in_order:
            graph.replay()
            times[name].append(replay_us(torch, graph) / launches)
    return times


def in_turns(torch, graphs, rounds=ROUNDS, order=None):
    """The medians of turns."""
    return {name: statistics.median(samples) for name, samples in turns(torch, graphs, rounds, order).items()}


def ratio_in_rounds(above, below):
    """The median of the rounds' ratios, which clocks that drift do not move, and its interval of 95 %: the two ranks
    between which the median lies by the binomial distribution; the whole range for fewer than 6 rounds."""
    ratios = sorted(x / y for x, y in zip(above, below, strict=True))
    rank, outside = 0, 2.0 ** -len(ratios)
    while (outside := outside + math.comb(len(ratios), rank + 1) / 2.0 ** len(ratios)) <= 0.025:
        rank += 1
    return statistics.median(ratios), (ratios[rank], ratios[-1 - rank])


def without_pause_us(torch, graph, launches, seconds):
    """Microseconds per launch while the graph is replayed for that long, without the first third: clocks have then
    settled at what power allows."""
    replays = max(3, math.ceil(seconds * 1e6 / replay_us(torch, graph)))
    warm = replays // 3
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for i in range(replays):
        if i == warm:
            begin.record()
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / ((replays - warm) * launches)


def medians(torch, runs):
    """The same for functions; makes their graphs."""
    return in_turns(torch, {name: timed_graph(torch, run) for name, run in runs.items()})
