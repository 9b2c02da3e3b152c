"""check_sass.py: on machine code written here, and on kernels that are compiled for it."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import check_sass

COMMAND = os.environ["TILEJIT_COMMAND"]

# A loop from 0x20 to 0x60, as nvdisasm -c writes it; {} is an instruction in it.
LOOP = """.text.k:
.L_x_0:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/                   {before} ;
.L_x_1:
        /*0020*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ;
        /*0030*/                   {inside} ;
        /*0040*/                   {tensor} ;
        /*0050*/                   ISETP.NE.AND P1, PT, R4, RZ, PT ;
        /*0060*/              @P1  BRA `(.L_x_1) ;
        /*0070*/                   EXIT ;
.L_x_2:
        /*0080*/                   BRA `(.L_x_2) ;
"""
HGMMA = "HGMMA.64x256x16.F32.BF16 R24, gdesc[UR4], R24, gsb0"


def loop(inside="NOP", before="NOP", tensor=HGMMA):
    return LOOP.format(inside=inside, before=before, tensor=tensor)


def faults(text, expected=None, every=False):
    return [line for one in check_sass.loops_of(text, every) for line in one.faults(expected)]


class Text(unittest.TestCase):
    def test_what_ruins_a_loop_is_found_inside_it_only(self):
        for bad in ("MEMBAR.ALL.GPU", "@!P0 MEMBAR.ALL.CTA", "LDL R4, [R1]", "STL.64 [R1], R4"):
            self.assertEqual(len(faults(loop(inside=bad))), 1, bad)
            self.assertEqual(faults(loop(before=bad)), [], bad)
        for good in ("LDGSTS.E [R2], [R4.64]", "MEMORY R1", "STS [R1], R4", "LDSM.16.M88.4 R4, [R1]"):
            self.assertEqual(faults(loop(inside=good)), [], good)

    def test_tensor_instructions_of_every_kind_are_counted(self):
        for tensor, name in (
            (HGMMA, "HGMMA"), ("QGMMA.64x8x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24", "QGMMA"),
            ("IGMMA.64x8x32.S8.S8 R24, gdesc[UR4], R24", "IGMMA"), ("HMMA.16816.F32.BF16 R4, R8, R12, R4", "HMMA"),
            ("IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4", "IMMA"), ("DMMA.8x8x4 R4, R8, R12, R4", "DMMA"),
            ("QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4", "QMMA"), ("UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8]", "UTCHMMA"),
        ):  # fmt: skip
            (one,) = check_sass.loops_of(loop(tensor=tensor))
            self.assertEqual(one.tensor, {name: 1})
            self.assertEqual(one.faults(check_sass.parse_counts(f"{name}=1")), [])
            self.assertEqual(one.faults(check_sass.parse_counts(f"{name}=2")), [f"2 {name} expected"])

    def test_the_loop_with_most_tensor_instructions_is_the_main_one(self):
        small, large = loop(inside="MEMBAR.ALL.GPU").splitlines(), loop(inside=HGMMA).splitlines()
        # One after the other in one function; the second one's addresses and labels move on.
        moved = [line.replace("/*00", "/*01").replace("L_x_", "L_y_") for line in large[1:]]
        text = "\n".join([line for line in small if "EXIT" not in line and "L_x_2" not in line] + moved)
        self.assertEqual(faults(text), [])
        self.assertEqual(len(faults(text, every=True)), 1)

    def test_cuobjdumps_text_is_read_too(self):
        text = loop(inside="MEMBAR.SC.GPU").replace(".text.k:", "\t\tFunction : k").replace("`(.L_x_1)", "0x20")
        self.assertEqual(len(faults(text)), 1)

    def test_without_a_loop_everything_between_the_first_and_the_last_counts(self):
        unrolled = loop(before=HGMMA, inside="MEMBAR.ALL.GPU").replace("@P1  BRA `(.L_x_1)", "MEMBAR.SC.SYS")
        self.assertEqual([line.split()[1] for line in faults(unrolled)], ["MEMBAR.ALL.GPU"])

    def test_logs_tell_of_spills_and_of_serialised_products(self):
        log = """ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
    24 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : Used 168 registers, used 16 barriers"""
        self.assertEqual([line.split()[0] for line in check_sass.faults_of_log(log)], ["24", "ptxas"])

    def test_exit_codes(self):
        for text, arguments, code in (
            (loop(), [], 0), (loop(inside="STL [R1], R2"), [], 1), (loop(), ["--expect", "HGMMA=2"], 1),
            (loop(tensor="FFMA R1, R2, R3, R4"), [], 2),
        ):  # fmt: skip
            with tempfile.NamedTemporaryFile("w", suffix=".sass") as file:
                file.write(text)
                file.flush()
                said = io.StringIO()
                with mock.patch.object(sys, "argv", ["check_sass.py", file.name, *arguments]):
                    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                        self.assertEqual(check_sass.main(), code, said.getvalue())


SOURCE = """#include "plan.cuh"
extern "C" __global__ void k(const __grid_constant__ Params p) {
  const unsigned* x = p.x + threadIdx.x;
  %(type)s d[%(sums)d] = {};
  double f[2] = {double(x[0]), double(x[1])};
  unsigned a[4], b[2];
#pragma unroll 1
  for (long long k = 0; k < p.N; ++k) {
    for (int i = 0; i < 4; ++i) a[i] = x[32 * i + k];
    for (int i = 0; i < 2; ++i) b[i] = x[32 * (4 + i) + k];
    %(product)s
    %(fence)s
  }
  for (int i = 0; i < %(sums)d; ++i) p.y[threadIdx.x * 32 + i] = unsigned(d[i]);
}
"""
WARP = (
    'asm volatile("mma.sync.aligned.{} {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"'
    ' : "+{}"(d[0]), "+{}"(d[1]), "+{}"(d[2]), "+{}"(d[3])'
    ' : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));'
)


def product(name, letter):
    return WARP.format(name, *letter * 4)


F32 = {"type": "float", "sums": 4, "product": product("m16n8k16.row.col.f32.bf16.bf16.f32", "f"), "fence": ""}
I32 = {"type": "int", "sums": 4, "product": product("m16n8k32.row.col.s32.s8.s8.s32", "r"), "fence": ""}
E4M3 = {"type": "float", "sums": 4, "product": product("m16n8k32.row.col.f32.e4m3.e4m3.f32", "f"), "fence": ""}
F64 = {
    "type": "double",
    "sums": 2,
    "product": 'asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"'
    ' : "+d"(d[0]), "+d"(d[1]) : "d"(f[0] + a[0]), "d"(f[1] + b[0]));',
    "fence": "",
}


def have_nvrtc():
    said = subprocess.run([COMMAND, "doctor", "--json"], capture_output=True, text=True, check=False).stdout
    return json.loads(said)["nvrtc"]["found"]


@unittest.skipUnless(check_sass.find("cuobjdump") or check_sass.find("nvdisasm"), "no disassembler is installed")
class Compiled(unittest.TestCase):
    """Kernels of callers' own, compiled by the command."""

    @classmethod
    def setUpClass(cls):
        if not have_nvrtc():
            raise unittest.SkipTest("NVRTC is not installed")

    def check(self, values, target="sm_90a"):
        """What is found in the main loop of a kernel: counts, faults."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            tensors = {"x": {"dtype": "u32", "shape": ["N"]}, "y": {"dtype": "u32", "shape": ["N"], "access": "out"}}
            spec = {"op": "cuda", "name": "k", "source": "k.cu", "text": SOURCE % values, "tensors": tensors}
            (folder / "k.json").write_text(json.dumps({**spec, "launch": {"grid": 1, "block": 32}}))
            made = subprocess.run(
                [COMMAND, "compile", folder / "k.json", "--allow-source", "--target", target, "-o", folder / "k.cubin"],
                capture_output=True, text=True, env={**os.environ, "TILEJIT_CACHE_DIR": "off"}, check=False,
            )  # fmt: skip
            self.assertEqual(made.returncode, 0, made.stderr)
            (one,) = check_sass.loops_of(check_sass.read_sass(folder / "k.cubin"))
            return dict(one.tensor), one.faults(None)

    def test_the_units_of_each_type_are_seen(self):
        self.assertEqual(self.check(F32), ({"HMMA": 1}, []))
        self.assertEqual(self.check(I32, "sm_80"), ({"IMMA": 1}, []))
        self.assertEqual(self.check(F64), ({"DMMA": 1}, []))
        self.assertEqual(self.check(E4M3, "sm_120a"), ({"QMMA": 1}, []))

    def test_a_fence_in_the_loop_is_found(self):
        counts, found = self.check({**F32, "fence": 'asm volatile("fence.acq_rel.cluster;" ::: "memory");'})
        self.assertEqual(counts, {"HMMA": 1})
        self.assertIn("MEMBAR", " ".join(found))

    def test_local_memory_in_the_loop_is_found(self):
        indexed = """unsigned local[64] = {};
#pragma unroll 1
    for (unsigned i = 0; i < 64; ++i) local[(a[0] + i * a[1]) % 64] = i;
    d[0] += float(local[b[0] % 64]);"""
        _, found = self.check({**F32, "fence": indexed})
        self.assertIn("STL", " ".join(found))
        self.assertIn("LDL", " ".join(found))


if __name__ == "__main__":
    unittest.main()
