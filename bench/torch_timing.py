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


def in_turns(torch, graphs, rounds=ROUNDS, order=None):
    """Median microseconds per launch, by the names of `graphs`, which come from timed_graph. Graphs are
    replayed in turns, so that clocks affect all alike; `order`, a random.Random, shuffles the turns of each
    round. Each is replayed once untimed before it is timed, so that the L2 cache holds what its own launches
    leave there."""
    times = {name: [] for name in graphs}
    for _ in range(rounds):
        turns = list(graphs.items())
        if order:
            order.shuffle(turns)
        for name, (graph, launches) in turns:
            graph.replay()
            times[name].append(replay_us(torch, graph) / launches)
    return {name: statistics.median(samples) for name, samples in times.items()}


def medians(torch, runs):
    """The same for functions; makes their graphs."""
    return in_turns(torch, {name: timed_graph(torch, run) for name, run in runs.items()})
