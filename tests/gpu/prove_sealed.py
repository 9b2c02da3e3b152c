#!/usr/bin/env python3
"""From a recorded run to a sealed one: what a service does, step by step.

    tests/gpu/prove_sealed.py --command build/release/bin/tilejit
    tests/gpu/prove_sealed.py --command build/ci/bin/tilejit --without-gpu

1. A process with NVRTC and the GPU runs some kernels, from sweeps, and records them.
2. Processes that see no GPU warm the manifest for two targets, into a bundle. A tuning file gives two devices of the
   first target different knobs for some kernels: both are warmed.
3. Processes that see the GPU, but no NVRTC and no toolkit, run the same work from the bundle alone, where
   compiling is forbidden.

Every result is compared with the CPU reference. It fails if anything was compiled in step 3, if anything was
missing, or if something that nobody warmed was served. Needs no compiler, no other library and half a minute.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

CPU_TARGET = "sm_90a"  # of steps 1 and 3 without a GPU
NO_GPU = 77  # exit code of a test that is skipped
TOOLKIT = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDACXX")


def tensors(dtype, **shapes):
    return {name: {"dtype": dtype, "shape": shape} for name, shape in shapes.items()}


SPECS = {
    "softmax": {
        "name": "softmax",
        "sweep": {"T": ["f16", "f32"], "N": [512, 4096]},
        "tensors": tensors("T", x=[64, "N"], y=[64, "N"]),
        "formula": ["e = exp(x - max(x))", "y = e / sum(e)"],
    },
    "residual": {
        "name": "residual",
        "sweep": {"N": [768, 1024]},
        "tensors": {**tensors("bf16", x=[128, "N"], r=[128, "N"], y=[128, "N"]), **tensors("f32", w=["N"])},
        "formula": ["h = x + r", "y = h * rsqrt(mean(h * h) + 0.00001) * w"],
    },
    "scan": {
        "name": "scan",
        "sweep": {"N": [2000, 3000]},
        "tensors": tensors("f32", x=[32, "N"], y=[32, "N"]),
        "formula": "y = cumsum(x, reverse=true)",
    },
    "map": {
        "name": "map",
        "sweep": {"T": ["f16", "bf16"]},
        "tensors": tensors("T", x=[1000, 33], y=[1000, 33]),
        "formula": "y = gelu(x) * 0.5",
    },
}
KERNELS = 10
TUNED = 2  # of "map"
OTHER_DEVICE = "A device of the same target"  # its name comes first: kernels of no device are its
UNKNOWN = {"name": "unknown", "tensors": tensors("f32", x=[77], y=[77]), "formula": "y = sin(x)"}


class Proof:
    def __init__(self, command, folder, has_gpu):
        self.command = command
        self.folder = pathlib.Path(folder)
        self.has_gpu = has_gpu
        self.start = time.monotonic()
        for name, spec in {**SPECS, "unknown": UNKNOWN}.items():
            (self.folder / f"{name}.json").write_text(json.dumps(spec))
        (self.folder / "empty").mkdir()
        search = ("TILEJIT_NVRTC", "TILEJIT_NO_TOOLKIT")
        kept = [name for name in os.environ if not name.startswith("TILEJIT_") or name in search]
        self.base = {name: os.environ[name] for name in kept}

    def say(self, text):
        print(f"{time.monotonic() - self.start:6.1f} s  {text}", flush=True)

    def execute(self, environment, *arguments):
        return subprocess.run(
            [self.command, *map(str, arguments)], cwd=self.folder, env=environment, text=True, capture_output=True,
            timeout=120, check=False,
        )  # fmt: skip

    def tilejit(self, environment, *arguments):
        done = self.execute(environment, *arguments)
        require(done.returncode == 0, f"tilejit {' '.join(map(str, arguments))}: {done.stderr}{done.stdout[-2000:]}")
        return done.stdout

    def json(self, environment, *arguments):
        return json.loads(self.tilejit(environment, *arguments, "--json"))

    def run_all(self, environment):
        """The report of `tilejit run` for every kernel; fails if a result differs from the
        reference's."""
        device = "0" if self.has_gpu else "cpu"
        return [
            kernel
            for name in SPECS
            for kernel in self.json(environment, "run", f"{name}.json", "--device", device)["kernels"]
        ]

    def descriptors(self, manifest):
        lines = (self.folder / manifest).read_text().splitlines()
        entries = [json.loads(line) for line in lines]
        return {(entry["target"], json.dumps(entry["spec"], sort_keys=True)) for entry in entries if "spec" in entry}

    def record(self):
        environment = {**self.base, "TILEJIT_CACHE_DIR": str(self.folder / "first"), "TILEJIT_RECORD": "used.jsonl"}
        kernels = self.run_all(environment)
        require(len(kernels) == KERNELS, f"{len(kernels)} kernels ran, not {KERNELS}")
        require(all(kernel["artifact"]["tier"] == "compiled" for kernel in kernels), "the first run compiles")
        require_verified(kernels, self.has_gpu)
        self.target = kernels[0]["artifact"]["target"]
        self.tune(kernels[0]["device"] if self.has_gpu else "The device that serves")
        require(len(self.descriptors("used.jsonl")) == KERNELS, "every kernel is recorded once")
        self.say(f"{KERNELS} kernels compiled and recorded, {self.target}")

    def tune(self, device):
        """A tuning file for two devices; `device` is the second one."""
        self.devices = (OTHER_DEVICE, device)
        command = ("tune", "map.json", "--dry-run", "--budget", "1", "--target", self.target)
        environment = {**self.base, "TILEJIT_CACHE_DIR": str(self.folder / "tuning")}
        entries = [
            {
                "tilejit_tuning": 1, "class": kernel["class"], "target": self.target, "device": name,
                "tuning": {"threads": threads}, "milliseconds": 1.0, "default_milliseconds": 2.0, "name": kernel["name"],
            }
            for kernel in self.json(environment, *command)["kernels"]
            for name, threads in zip(self.devices, (64, 128))
        ]  # fmt: skip
        (self.folder / "tuning.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        self.base["TILEJIT_TUNING"] = str(self.folder / "tuning.jsonl")

    def warm(self, forgets):
        """`forgets` leaves a kernel out, so that the proof fails."""
        manifest = "used.jsonl"
        if forgets:
            manifest = "forgetful.jsonl"
            lines = (self.folder / "used.jsonl").read_text().splitlines(keepends=True)
            (self.folder / manifest).write_text("".join(lines[1:]))
        environment = {**self.base, "CUDA_VISIBLE_DEVICES": "", "TILEJIT_CACHE_DIR": str(self.folder / "build")}
        driver = self.json(environment, "doctor")["driver"]
        require(not driver.get("devices"), f"a device is seen: {driver}")
        targets = [self.target, "sm_80" if self.target != "sm_80" else "sm_90a"]
        command = ("warm", manifest, "--target", ",".join(targets), "--bundle", "kernels.tjb", "--quiet")
        report = self.json(environment, *command)
        wanted = 2 * (KERNELS - (1 if forgets else 0)) + TUNED
        require(report["entries"] == report["compiled"] == wanted, f"warmed {report}")
        self.require_both_devices(environment)
        self.say(f"{wanted} kernels for {' and '.join(targets)} warmed without a GPU, in a bundle")

    def require_both_devices(self, environment):
        """Each device gets its own warmed kernels: two kernels of "map" differ."""
        command = ("coverage", "map.json", "--target", self.target, "--bundle", "kernels.tjb")
        keys = {}
        for device in self.devices:
            found = self.json(environment, *command, "--device", device)
            keys[device] = {kernel["key"] for kernel in found["kernels"]}
        first, second = keys.values()
        require(len(first) == len(second) == TUNED and not first & second, f"both devices have {keys}")
        self.say(f"{TUNED} of them twice, for two devices with other knobs")

    def serve(self):
        environment = {name: value for name, value in self.base.items() if name not in TOOLKIT}
        environment |= {
            "TILEJIT_NVRTC": str(self.folder / "empty"), "TILEJIT_WORKER": str(self.folder / "empty" / "none"),
            "TILEJIT_CACHE_DIR": "off", "TILEJIT_CACHE_PATH": str(self.folder / "kernels.tjb"),
            "TILEJIT_MISS": "error", "TILEJIT_RECORD": "served.jsonl", "PATH": "/usr/bin:/bin",
        }  # fmt: skip
        doctor = json.loads(self.execute(environment, "doctor", "--json").stdout)
        require(not doctor["nvrtc"]["found"], f"NVRTC is still found: {doctor}")
        self.tilejit(environment, "coverage", "used.jsonl", "--target", self.target)
        kernels = self.run_all(environment)
        tiers = [kernel["artifact"]["tier"] for kernel in kernels]
        require(tiers == ["read-only"] * KERNELS, f"kernels came from {tiers}")
        require_verified(kernels, self.has_gpu)
        require(self.descriptors("served.jsonl") == self.descriptors("used.jsonl"), "other work than was recorded")
        self.say(f"{KERNELS} kernels run sealed: 0 misses, 0 compiles")
        unknown = self.execute(environment, "compile", "unknown.json", "--target", self.target)
        forbidden = "compiling is forbidden (TILEJIT_MISS=error)"
        require(unknown.returncode == 1 and forbidden in unknown.stderr, f"a miss: {unknown.stderr}")
        self.say("what nobody warmed is refused")


def require(fact, what):
    if not fact:
        raise SystemExit(f"not proven: {what}")


def has_gpu(command):
    done = subprocess.run([command, "doctor", "--json"], capture_output=True, text=True, check=True)
    return bool(json.loads(done.stdout)["driver"].get("devices"))


def require_verified(kernels, has_gpu):
    for kernel in kernels:
        passed = (kernel.get("verification") or {}).get("passed")
        require(passed is True or not has_gpu, f"{kernel['name']}: {kernel.get('verification')}")
        require((kernel["device"] != "cpu") == has_gpu, f"{kernel['name']} ran on {kernel['device']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=pathlib.Path, required=True, help="the program tilejit")
    parser.add_argument("--without-gpu", action="store_true", help="all but the launches: the CPU computes")
    parser.add_argument("--forget", action="store_true", help="warm one kernel less, to see that the proof fails")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.without_gpu and not has_gpu(options.command):
            print("no GPU: nothing is proven; --without-gpu goes through the rest")
            sys.exit(NO_GPU)
        proof = Proof(options.command.resolve(), folder, not options.without_gpu)
        proof.record()
        proof.warm(options.forget)
        proof.serve()
    print("proven" if not options.without_gpu else "proven, but for the launches", file=sys.stdout)


if __name__ == "__main__":
    main()
