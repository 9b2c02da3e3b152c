#include "emulation/emulated.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <span>
#include <string_view>

#include "launch/scalar_argument.hpp"
#include "operation/fast_divisor.hpp"
#include "render/render.hpp"

namespace tilejit::test {
namespace {

/// Replaces headers that are written in the device's instructions.
constexpr std::pair<const char*, const char*> kReplaced[] = {
    {"tile/wide.cuh",
     "namespace tile {\n"
     "template <class T, class Vector>\n"
     "void store_wide(T* p, const Vector& x) {\n  x.store(p);\n}\n"
     "template <class T, class Vector>\n"
     "void store_wide(T* p, const Vector& x, int valid) {\n  x.store(p, valid);\n}\n}\n"},
    {"tile/cluster.cuh",
     "template <class... T>\nvoid no_cluster(T...) {\n  emulation::fail(\"a cluster\");\n}\n"
     "#define send_to_block no_cluster\n#define expect_bytes no_cluster\n"
     "#define wait_for_bytes no_cluster\n#define init_barrier no_cluster\n"
     "#define cluster_arrive no_cluster\n#define cluster_wait no_cluster\n"
     "#define cluster_sync no_cluster\n"},
    {"tile/barrier.cuh",
     "namespace tile {\nusing emulation::shared_address;\n"
     "template <class... T>\nvoid expect_bytes(T...) {}\n"
     "template <class... T>\nvoid wait_for_bytes(T...) {}\n"
     "template <class... T>\nvoid init_barrier(T...) {}\n}\n"},
    {"tile/async_copy.cuh",
     "namespace tile {\nusing emulation::async_copy_commit;\nusing emulation::async_copy_wait;\n"
     "using emulation::async_copy_or_zero;\n"
     "template <int kBytes>\nvoid async_copy(u32 to, const void* from) {\n"
     "  async_copy_or_zero<kBytes>(to, from, kBytes);\n}\n}\n"},
    {"tile/ldmatrix.cuh",
     "namespace tile {\ntemplate <int kMatrices, bool kTransposed = false>\n"
     "void load_matrices(u32 (&r)[kMatrices], u32 row) {\n"
     "  emulation::load_matrices<kMatrices, kTransposed>(r, row);\n}\n}\n"},
};
/// Instructions in the remaining headers.
constexpr std::pair<std::string_view, std::string_view> kInstructions[] = {
    {"asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x))", "y = exp2f(x)"},
    {"asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x))", "y = tanhf(x)"},
    {"asm volatile(\"shfl.sync.up.b32 %0, %1, %2, 0, -1;\" : \"=r\"(y) : \"r\"(x), "
     "\"r\"(distance))",
     "y = __shfl_up_sync(0xffffffffu, x, distance)"},
    {"asm volatile(\"shfl.sync.bfly.b32 %0, %1, %2, 31, -1;\" : \"=r\"(y) : \"r\"(x), \"r\"(mask))",
     "y = __shfl_xor_sync(0xffffffffu, x, mask)"},
    {"asm volatile(\"activemask.b32 %0;\" : \"=r\"(lanes))", "lanes = 1u << threadIdx.x % 32"},
    {"asm volatile(\"shfl.sync.up.b32 %0, %1, 1, 0, %2;\" : \"=r\"(y) : \"r\"(x), \"r\"(lanes))",
     "y = x"},
    {"asm volatile(\"shfl.sync.down.b32 %0, %1, 1, 31, %2;\" : \"=r\"(y) : \"r\"(x), \"r\"(lanes))",
     "y = x"},
    {"asm volatile(\"redux.sync.max.s32 %0, %1, -1;\" : \"=r\"(most) : \"r\"(key))",
     "most = __reduce_max_sync(0xffffffffu, key)"},
    {"asm volatile(\"redux.sync.min.s32 %0, %1, -1;\" : \"=r\"(least) : \"r\"(key))",
     "least = __reduce_min_sync(0xffffffffu, key)"},
    {"asm(\"div.full.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b))", "y = a / b"},
};

/// Dynamic shared memory, and products of tensor cores, in generated text.
std::string without_instructions(std::string text) {
  static const std::regex kMemory(
      R"(extern __shared__ __align__\(\d+\) unsigned char memory\[\];)");
  static const std::regex kMma(
      R"re(asm volatile\("mma\.sync\.aligned\.m\d+n\d+k\d+\.row\.col\.\w+\.(\w+)\.(\w+)\.[^;]*;"[^;]*;)re");
  text = std::regex_replace(text, kMemory, "unsigned char* const memory = emulation::memory;");
  std::smatch found;
  while (std::regex_search(text, found, kMma)) {
    const auto element = [](const std::string& type) {
      return type == "bf16"  ? "emulation::Bf16"
             : type == "f64" ? "double"
             : type == "s8"  ? "signed char"
                             : "unsigned char";
    };
    const std::string product = std::string("emulation::multiply<Mma, ") + element(found[1]) +
                                ", " + element(found[2]) + ">(d, a, b, c);";
    text.replace(static_cast<std::size_t>(found.position()),
                 static_cast<std::size_t>(found.length()), product);
  }
  return text;
}

// Without wgmma, which is not emulated.
constexpr Target kTarget = {.major = 9, .minor = 0, .feature = 0};

using Launch = void(const void* params, unsigned blocks, unsigned seed);

/// The entry of one of the kernels of case `i`.
std::string entry_name(std::size_t i, std::size_t kernel, std::string_view suffix) {
  return "emulated_" + std::to_string(i) + "_" + std::to_string(kernel) + std::string(suffix);
}

std::span<const plan::Plan> kernels_of(const plan::Plan& plan) {
  const std::span<const plan::Plan> parts = plan::parts_of(plan);
  return parts.empty() ? std::span(&plan, 1) : parts;
}

/// For plans whose blocks share rows.
std::string_view combining_entry(const plan::Plan& plan) {
  const plan::Rows* const rows = plan::rows_of(plan);
  return rows != nullptr && rows->splits > 1 && !rows->atomics ? "_combine" : "";
}

/// The parameter struct, packed as the runtime packs it; `tensors` are the kernel's.
std::vector<std::byte> pack(const plan::Plan& plan, const RandomCase& c,
                            const std::vector<void*>& tensors,
                            const std::vector<std::byte>& partials) {
  std::vector<std::byte> params(static_cast<std::size_t>(plan.params_bytes));
  const auto put = [&](const plan::Param& param, const auto& value) {
    ASSERT_EQ(sizeof value, static_cast<std::size_t>(param.size));
    std::memcpy(params.data() + param.offset, &value, sizeof value);
  };
  const auto put_scalar = [&](const plan::Param& param) {
    const Number& value = c.scalars[static_cast<std::size_t>(param.index)];
    ASSERT_TRUE(launch::try_store_scalar(param.dtype, value, params.data() + param.offset));
  };
  using Kind = plan::Param::Kind;
  for (const plan::Param& param : plan.params) {
    switch (param.kind) {
      case Kind::pointer: put(param, tensors[static_cast<std::size_t>(param.index)]); break;
      case Kind::total: put(param, plan::total_units(plan, c.symbols)); break;
      case Kind::dim: put(param, param.dim.evaluate(c.symbols)); break;
      case Kind::divisor: {
        const std::int64_t dim = param.dim.evaluate(c.symbols);
        // Rows without elements divide nothing (launch/binder_sizes.cpp).
        const std::int64_t units = dim / param.per + (dim % param.per != 0);
        put(param, operation::make_divisor(std::max<std::int64_t>(1, units)));
        break;
      }
      case Kind::workspace: put(param, partials.data()); break;
      case Kind::tensor_map: break;  // formulas have none
      case Kind::scalar: put_scalar(param); break;
    }
  }
  return params;
}

/// Memory that the kernels of a case need in addition to their tensors.
struct Memory {
  std::vector<std::vector<std::byte>> temporaries, partials;

  Memory(const plan::Plan& plan, const SymbolValues& symbols) {
    if (const auto* several = std::get_if<plan::Several>(&plan.family)) {
      for (const plan::Temporary& temporary : several->temporaries) {
        const std::int64_t elements = temporary.elements.evaluate(symbols);
        temporaries.emplace_back(static_cast<std::size_t>(elements) *
                                 static_cast<std::size_t>(size_bytes(temporary.dtype)));
      }
    }
    for (const plan::Plan& kernel : kernels_of(plan)) {
      const plan::Matmul* const product = plan::matmul_of(kernel);
      partials.emplace_back(static_cast<std::size_t>(product == nullptr
                                                         ? plan::partials_bytes(kernel)
                                                         : plan::partials_bytes(kernel, *product)));
    }
  }
};

/// What a kernel is passed for its tensors.
std::vector<void*> tensors_of(const plan::Plan& kernel, std::vector<GuardedTensor>& tensors,
                              Memory& memory) {
  std::vector<void*> pointers;
  for (const plan::Operand& operand : kernel.operands) {
    const auto local = static_cast<std::size_t>(operand.tensor);
    const std::size_t number =
        kernel.tensors.empty() ? local : static_cast<std::size_t>(kernel.tensors[local]);
    pointers.push_back(number < tensors.size()
                           ? static_cast<void*>(tensors[number].data())
                           : memory.temporaries[number - tensors.size()].data());
  }
  return pointers;
}

}  // namespace

int random_cases(int usual) {
  const char* const asked = std::getenv("TILEJIT_TEST_CASES");
  return asked == nullptr ? usual : std::atoi(asked);
}

bool EmulatedKernels::can_run(const Fused& op) {
  const auto of_device = [](DType dtype) {
    return dtype == f16 || dtype == f8e4m3 || dtype == f8e5m2 || dtype == tf32;
  };
  if (std::ranges::any_of(op.tensors, of_device, &Tensor::dtype) ||
      std::ranges::any_of(op.scalars, of_device, &Scalar::dtype)) {
    return false;
  }
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), kTarget);
  return std::ranges::all_of(kernels_of(plan), [](const plan::Plan& kernel) {
    const plan::Rows* const rows = plan::rows_of(kernel);
    return rows == nullptr || rows->cluster == 1;
  });
}

std::string EmulatedKernels::templates_of(const Fused& op) {
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), kTarget);
  std::string names;
  for (const plan::Plan& kernel : kernels_of(plan))
    names += std::string(plan::template_name(kernel)) + " ";
  return names;
}

void EmulatedKernels::add(const std::string& what, RandomCase c) {
  c.op.name = "k" + std::to_string(kernels_.size());
  plan::Plan plan = plan::make_plan(c.op, formula::analyze(c.op), kTarget);
  kernels_.push_back({what, std::move(c), std::move(plan)});
}

bool EmulatedKernels::add_light(const std::string& what, RandomCase c) {
  c.op.name = "k" + std::to_string(kernels_.size());
  const formula::Analysis analysis = formula::analyze(c.op);
  auto light = plan::make_light_plan(c.op, analysis, plan::make_plan(c.op, analysis, kTarget));
  if (!light) return false;
  kernels_.push_back({what, std::move(c), *std::move(light)});
  return true;
}

/// A separate namespace, since every kernel has the same names; its macros end with it.
std::string EmulatedKernels::source_of(std::size_t i) const {
  const plan::Plan& plan = kernels_[i].plan;
  operation::Source source = render::render(plan);
  for (auto& [name, text] : source.headers) {
    for (const auto& [replaced, by] : kReplaced) {
      if (name == replaced) text = by;
    }
    for (const auto& [instruction, by] : kInstructions) {
      const std::size_t at = text.find(instruction);
      if (at != std::string::npos) text.replace(at, instruction.size(), by);
    }
  }
  const std::string space = "kernel_" + std::to_string(i);
  std::string text = "namespace " + space + " {\n" + without_instructions(flatten(source)) + "}\n";
  const std::span<const plan::Plan> kernels = kernels_of(plan);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::string own =
        plan::parts_of(plan).empty() ? space : space + "::part" + std::to_string(k);
    const auto export_entry = [&](std::string_view suffix, const char* threads) {
      text += "extern \"C\" void " + entry_name(i, k, suffix) +
              "(const void* params, unsigned blocks, unsigned seed) {\n  using namespace " + own +
              ";\n  emulation::launch(" + kernels[k].kernel_name + std::string(suffix) +
              ", *static_cast<const Params*>(params), " + threads + ", blocks, seed);\n}\n";
    };
    export_entry("", "kThreads");
    if (const std::string_view second = combining_entry(kernels[k]); !second.empty()) {
      export_entry(second, "kCombineThreads");
    }
  }
  for (const char* macro :
       {"TILE_DEVICE", "KERNEL_NAME", "KERNEL_NAME_COMBINE", "KERNEL_NAME_WIDE", "INDEX_NARROW",
        "INDEX_WIDE", "SPLITS_ROWS", "COUNTS_BLOCKS", "ROWS_IN_REGISTERS", "KEEPS_INPUTS",
        "USES_CLUSTER", "TAKES_ROW_AFTER_ROW"}) {
    text += std::string("#undef ") + macro + "\n";
  }
  return text;
}

bool EmulatedKernels::compile() {
  std::string text;
  for (std::size_t i = 0; i < kernels_.size(); ++i) text += source_of(i);
  library_ = compile_emulated(text);
  return library_ != nullptr;
}

void EmulatedKernels::verify_all(Random& random) {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    SCOPED_TRACE(kernels_[i].what + "\n" + to_json(kernels_[i].c.op));
    (void)verify_filled(i, [&](GuardedTensor& tensor) { tensor.fill(random); });
  }
}

std::vector<GuardedTensor> EmulatedKernels::verify(std::size_t i,
                                                   const std::function<double()>& next) {
  return verify_filled(i, [&](GuardedTensor& tensor) { tensor.fill(next); });
}

void EmulatedKernels::run(const Run& what, const std::vector<std::byte>& params) const {
  const auto launch = [&](std::string_view suffix, std::int64_t blocks) {
    const std::string name = entry_name(what.entry[0], what.entry[1], suffix);
    const auto entry = library_->find<Launch>(name);
    ASSERT_NE(entry, nullptr);
    entry(params.data(), static_cast<unsigned>(blocks), what.seed);
  };
  const std::int64_t units = plan::total_units(what.plan, what.symbols);
  const std::int64_t per_block = plan::units_per_block(what.plan);
  const std::int64_t blocks =
      (units + per_block - 1) / per_block * plan::blocks_per_unit(what.plan);
  if (blocks == 0) return;
  launch("", blocks);
  const std::string_view second = combining_entry(what.plan);
  if (!second.empty()) launch(second, combining_blocks(what.plan));
}

std::vector<GuardedTensor> EmulatedKernels::verify_filled(std::size_t i, const Fill& fill) const {
  const auto& [what, c, plan] = kernels_[i];
  const formula::Analysis analysis = formula::analyze(c.op);
  std::vector<GuardedTensor> before;
  for (std::size_t t = 0; t < c.op.tensors.size(); ++t) {
    before.emplace_back(c.op.tensors[t], c.symbols);
    if (analysis.access[t] != Access::out) fill(before.back());
  }
  HostArguments inputs{.tensors = {}, .scalars = c.scalars, .symbols = c.symbols};
  for (GuardedTensor& tensor : before) inputs.tensors.push_back(tensor.data());
  Memory memory(plan, c.symbols);
  std::array<std::vector<GuardedTensor>, 2> runs = {before, before};
  for (unsigned seed = 0; seed < runs.size(); ++seed) {
    const std::span<const plan::Plan> kernels = kernels_of(plan);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      run({.entry = {i, k}, .plan = kernels[k], .symbols = c.symbols, .seed = seed},
          pack(kernels[k], c, tensors_of(kernels[k], runs[seed], memory), memory.partials[k]));
    }
  }
  std::vector<const void*> actual;
  for (std::size_t t = 0; t < c.op.tensors.size(); ++t) {
    EXPECT_EQ(runs[0][t].bytes(), runs[1][t].bytes()) << "the order of the threads matters";
    EXPECT_EQ(runs[0][t].check_guards(), "") << "tensor " << c.op.tensors[t].name;
    actual.push_back(runs[0][t].data());
  }
  const Verification result = tilejit::verify(c.op, inputs, actual);
  EXPECT_TRUE(result.passed) << result.first_mismatch << " (" << result.mismatches << " of "
                             << result.elements << ")";
  return runs[0];
}

}  // namespace tilejit::test
