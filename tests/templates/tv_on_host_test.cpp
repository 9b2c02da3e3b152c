// Kernels with given thread-value layouts, run on the host: the C++ compiler that built the tests
// compiles their source, and every thread of every block runs in turn.
#include <gtest/gtest.h>

#include "launch/binder.hpp"
#include "plan/plans.hpp"
#include "render/render.hpp"
#include "support/host_library.hpp"
#include "support/random_case.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

constexpr const char* kHostWide = R"(#pragma once
namespace tile {
template <class T, class Vector>
void store_wide(T* p, const Vector& x) { x.store(p); }
template <class T, class Vector>
void store_wide(T* p, const Vector& x, int valid) { x.store(p, valid); }
}
)";

constexpr const char* kHostDevice = R"(
#define __device__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
static struct { unsigned x; } blockIdx, threadIdx;
// Named in tile/math.cuh and its neighbours, but none of these kernels call them.
float fmaxf(float, float);
float fminf(float, float);
float __double2float_rz(double);
float __ll2float_rz(long long);
float __ull2float_rz(unsigned long long);
float __int2float_rz(int);
float __uint2float_rz(unsigned);
long long __float2ll_rz(float);
unsigned long long __float2ull_rz(float);
int __float2int_rz(float);
unsigned __float2uint_rz(float);
float __int_as_float(int);
int __float_as_int(float);
double __longlong_as_double(long long);
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
)";

constexpr const char* kHostLaunch = R"(
extern "C" void launch(unsigned blocks, const void* params) {
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < kThreads; ++threadIdx.x) {
      KERNEL_NAME(*static_cast<const Params*>(params));
    }
  }
}
)";

/// The kernel's source as C++.
std::string host_source(const plan::Plan& plan) {
  operation::Source source = render::render(plan);
  for (auto& [name, text] : source.headers) {
    if (name == "tile/wide.cuh") text = kHostWide;
  }
  return kHostDevice + operation::flatten(source) + kHostLaunch;
}

/// Outputs start poisoned; every byte that is not part of an element must stay so.
void run_and_verify(const Fused& op, const SymbolValues& symbols) {
  Random random(11);
  const formula::Analysis analysis = formula::analyze(op);
  const plan::Plan plan = plan::plan_of(op);
  const launch::Binder binder(plan.signature, plan::launch_plan(plan));
  std::vector<GuardedTensor> tensors;
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    tensors.emplace_back(op.tensors[i], symbols);
    if (analysis.access[i] != Access::out) tensors.back().fill(random);
  }
  std::vector<GuardedTensor> before = tensors;
  HostArguments inputs{.tensors = {}, .scalars = {}, .symbols = symbols};
  std::vector<Argument> args;
  std::vector<const void*> actual;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    inputs.tensors.push_back(before[i].data());
    args.emplace_back(static_cast<void*>(tensors[i].data()));
    actual.push_back(tensors[i].data());
  }
  launch::ParamSpace space(binder.param_bytes(), binder.step_count());
  const launch::BoundParams bound = binder.bind(args, &symbols, space);
  const HostLibrary kernel(host_source(plan));
  auto* const launch = kernel.find<void(unsigned, const void*)>("launch");
  ASSERT_NE(launch, nullptr);
  launch(bound.grids.front().blocks, bound.params);
  for (const GuardedTensor& tensor : tensors) EXPECT_EQ(tensor.check_guards(), "");
  const Verification result = verify(op, inputs, actual);
  EXPECT_TRUE(result.passed) << result.first_mismatch << " (" << result.mismatches << " of "
                             << result.elements << ")";
}

struct Case {
  const char* name;
  Fused op;
  const char *thr, *val;
  SymbolValues symbols;
};

TEST(ThreadValueKernels, ComputeEveryElementOnce) {
  const std::string rows = "(70,200):(200,1)", columns = "(70,200):(1,70)";
  Fused in_place = make_op(i32, {{"x", rows}}, "x = x * 3 + 1");
  in_place.tensors[0].access = Access::inout;
  const Case cases[] = {
      {"rows",
       make_op(f32, {{"x", rows}, {"y", rows}}, "y = x + 1.0"),
       "(4,32):(32,1)",
       "(2,8):(8,1)",
       {}},
      {"transposed",
       make_op(f64, {{"x", columns}, {"y", rows}}, "y = x + 1.0"),
       "(8,8):(1,8)",
       "(4,4):(4,1)",
       {}},
      {"values down the columns",
       make_op(f32, {{"x", rows}, {"y", columns}}, "y = x"),
       "(4,16):(16,1)",
       "(8,2):(1,8)",
       {}},
      {"bytes",
       make_op(u8, {{"x", "(33,4096):(4096,1)"}, {"y", "(33,4096):(4096,1)"}}, "y = x + 1"),
       "(1,64):(64,1)",
       "(3,16):(16,1)",
       {}},
      {"three values, one axis of three",
       make_op(i32,
               {{"x", "(5,7,50):(350,50,1)"}, {"b", "(7,1):(1,0)"}, {"y", "(5,7,50):(350,50,1)"}},
               "y = x * b"),
       "32:1",
       "3:1",
       {}},
      {"ragged rows of any length",
       make_op(f32, {{"x", "(M,N):(N,1)"}, {"b", "(N):(1)"}, {"y", "(M,N):(N,1)"}}, "y = x * b"),
       "(4,8):(8,1)",
       "(4,4):(4,1)",
       {{"M", 37}, {"N", 45}}},
      {"nested modes",
       make_op(i64, {{"x", "((4,6),10):((6,1),24)"}, {"y", "((6,4),10):((1,6),24)"}},
               "y = x + iota(0)"),
       "(8,4):(4,1)",
       "(2,2):(2,1)",
       {}},
      {"in place", in_place, "(2,32):(1,2)", "(5,4):(4,1)", {}},
      {"one element", make_op(f32, {{"x", "1:0"}, {"y", "1:0"}}, "y = x"), "32:1", "4:1", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Fused op = c.op;
    op.tuning.tv = {.thr = c.thr, .val = c.val};
    run_and_verify(op, c.symbols);
  }
}

}  // namespace
}  // namespace tilejit::test
