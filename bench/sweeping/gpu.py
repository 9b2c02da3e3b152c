"""What the workers of a sweep do: compile a case ahead, or measure it. Needs PyTorch and a GPU."""

import contextlib
import ctypes
import functools
import gc
import math
import os
import pathlib
import sys
import traceback

import torch_timing

from .problem import Problem, function_of, sets_of
from .recipes import case_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"))

KEPT_BYTES = 1 << 28  # more than that, and a search for what nobody holds any more pays


def one_line(error):
    """The error's name and the first lines of its text."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}"


@functools.cache
def pytorch():
    """PyTorch, set up alike in all workers: what one has compiled, another finds. The choice among
    compiled kernels is not kept, since those that choose it beside each other choose badly: the process
    that measures chooses again, alone."""
    import torch
    import torch._inductor.config

    torch._inductor.config.compile_threads = 1
    if hasattr(torch._inductor.config, "autotune_local_cache"):
        torch._inductor.config.autotune_local_cache = False
    return torch


@functools.cache
def runtime():
    import tilejit_ctypes

    try:
        tilejit_ctypes.Compiler().nvrtc()
    except tilejit_ctypes.Error:  # the one that came with PyTorch
        os.environ.setdefault("TILEJIT_NVRTC", str(pathlib.Path(pytorch().__file__).parents[1]))
    return tilejit_ctypes.Runtime({"device": 0, "tuning_file": None})


def built(torch, case):
    torch._dynamo.reset()
    return torch.compile(function_of(torch, case), dynamic=False)


def tidy(torch):
    """Frees what cases have left in memory; what a failed device says then was said before."""
    with contextlib.suppress(Exception):
        if torch.cuda.memory_allocated() > KEPT_BYTES:
            gc.collect()
        torch.cuda.empty_cache()


def describe(_):
    """The device and its software."""
    torch = pytorch()
    device = runtime().device()
    return {"device": device["name"], "target": device["target"], "torch": torch.__version__}


def prepare(request):
    """Fills the caches of both compilers."""
    torch, case = pytorch(), case_of(*request["case"])
    failed = {}
    steps = [("ours", lambda: runtime().compile(case.spec()))]
    if request["peers"]:
        steps.append(("compiled", lambda: built(torch, case)(*Problem(torch, case).views[0])))
    for name, step in steps:
        try:
            step()
            torch.cuda.synchronize()
        except Exception as error:
            failed[name] = one_line(error)
    tidy(torch)
    return failed


class Measurement:
    """Of one case: fills `record` as far as it comes."""

    def __init__(self, case, record):
        self.torch, self.case, self.record = pytorch(), case, record
        l2_bytes = self.torch.cuda.get_device_properties(0).L2_cache_size
        self.sets = record["sets"] = sets_of(case, l2_bytes)
        self.problem = Problem(self.torch, case, self.sets)
        self.graphs = {}

    def attempt(self, name, step):
        """Takes a step that may fail without the others."""
        try:
            return step()
        except Exception as error:
            self.record["failed"][name] = one_line(error)
            return None

    def capture(self, name, make):
        """Keeps a graph of the function that `make` gives."""
        self.graphs[name] = torch_timing.timed_graph(self.torch, make(), self.sets)

    def ours(self):
        kernel = runtime().compile(self.case.spec())
        pointers = [list(map(ctypes.c_void_p, self.problem.pointers(i))) for i in range(self.sets)]
        current = self.torch.cuda.current_stream
        return lambda i: kernel.launch(*pointers[i], stream=current().cuda_stream)

    def eager(self):
        function, views = function_of(self.torch, self.case), self.problem.views
        return lambda i: function(*views[i])

    def compiled(self):
        function, views = built(self.torch, self.case), self.problem.views
        return lambda i: function(*views[i])

    def check(self):
        excess = self.problem.excess()
        self.record["excess"] = excess if math.isfinite(excess) else str(excess)
        if not excess <= 1:
            self.record["failed"]["wrong"] = f"{excess:.3g} times the error that is allowed"

    def take(self, peers):
        run = self.attempt("ours", self.ours)
        if run is not None:
            run(0)
            self.torch.cuda.synchronize()
            self.attempt("check", self.check)
            self.torch.cuda.empty_cache()
        timed = [("ours", lambda: run)]
        if peers:
            timed += [("eager", self.eager), ("compiled", self.compiled)]
        for name, make in timed:
            if name not in self.record["failed"]:
                self.attempt(name, lambda: self.capture(name, make))
        self.record["us"] = torch_timing.in_turns(self.torch, self.graphs)


def measure(request):
    """A record's part that needs the GPU."""
    record = {"failed": {}}
    try:
        Measurement(case_of(*request["case"]), record).take(request["peers"])
    except Exception as error:
        record["failed"]["measuring"] = one_line(error)
        traceback.print_exc()
    tidy(pytorch())
    return record


ANSWERS = {"describe": describe, "prepare": prepare, "measure": measure}


def answer(request):
    return ANSWERS[request["do"]](request)
