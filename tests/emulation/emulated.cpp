#include "emulation/emulated.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "render/render.hpp"

namespace tilejit::test {
namespace {

namespace fs = std::filesystem;

/// In place of headers that are written in the device's instructions.
constexpr std::pair<const char*, const char*> kReplaced[] = {
    {"tile/wide.cuh",
     "template <class T, class Vector>\n"
     "void store_wide(T* p, const Vector& x) {\n  x.store(p);\n}\n"
     "template <class T, class Vector>\n"
     "void store_wide(T* p, const Vector& x, int valid) {\n  x.store(p, valid);\n}\n"},
    {"tile/cluster.cuh",
     "inline void cluster_sync() { emulation::no_clusters(); }\n"
     "inline void cluster_arrive() { emulation::no_clusters(); }\n"
     "inline void cluster_wait() { emulation::no_clusters(); }\n"
     "inline void init_barrier(u64*) { emulation::no_clusters(); }\n"
     "inline void expect_bytes(u64*, int) { emulation::no_clusters(); }\n"
     "inline void wait_for_bytes(u64*, u32) { emulation::no_clusters(); }\n"
     "template <class T>\n"
     "void send_to_block(int, T*, const T&, u64*) { emulation::no_clusters(); }\n"},
};
/// Instructions in the other headers.
constexpr std::pair<std::string_view, std::string_view> kInstructions[] = {
    {"asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x))", "y = exp2f(x)"},
    {"asm(\"div.full.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b))", "y = a / b"},
};

using Launch = void (*)(const void* params, unsigned blocks, unsigned seed);

std::string kernel_name(std::size_t i, const char* suffix = "") {
  return "emulated_" + std::to_string(i) + suffix;
}

/// The parameter struct, as the runtime packs it.
std::vector<std::byte> pack(const plan::Plan& plan, const RandomCase& c,
                            std::vector<GuardedTensor>& tensors,
                            const std::vector<std::byte>& partials) {
  std::vector<std::byte> params(static_cast<std::size_t>(plan.params_bytes));
  const auto put = [&](const plan::Param& param, const auto& value) {
    ASSERT_EQ(sizeof value, static_cast<std::size_t>(param.size));
    std::memcpy(params.data() + param.offset, &value, sizeof value);
  };
  const auto put_scalar = [&](const plan::Param& param) {
    const double value = c.scalars[static_cast<std::size_t>(param.index)];
    if (param.dtype == f64) return put(param, value);
    if (is_floating(param.dtype)) return put(param, static_cast<float>(value));
    encode(param.dtype, value, params.data() + param.offset);
  };
  using Kind = plan::Param::Kind;
  for (const plan::Param& param : plan.params) {
    switch (param.kind) {
      case Kind::pointer: put(param, tensors[static_cast<std::size_t>(param.index)].data()); break;
      case Kind::total: put(param, plan::total_units(plan, c.symbols)); break;
      case Kind::dim: put(param, param.dim.evaluate(c.symbols)); break;
      case Kind::divisor: {
        const std::int64_t dim = param.dim.evaluate(c.symbols);
        put(param, plan::make_divisor(dim / param.per + (dim % param.per != 0)));
        break;
      }
      case Kind::partials: put(param, partials.data()); break;
      case Kind::scalar: put_scalar(param); break;
    }
  }
  return params;
}

}  // namespace

EmulatedKernels::EmulatedKernels() {
  folder_ = (fs::temp_directory_path() / "tilejit-emulation-XXXXXX").string();
  if (::mkdtemp(folder_.data()) == nullptr) folder_.clear();
}

EmulatedKernels::~EmulatedKernels() {
  if (library_ != nullptr) ::dlclose(library_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void EmulatedKernels::add(const std::string& what, RandomCase c) {
  c.op.name = "k" + std::to_string(kernels_.size());
  plan::Plan plan =
      plan::make_plan(c.op, spec::analyze(c.op), {.major = 9, .minor = 0, .feature = 'a'});
  kernels_.push_back({what, std::move(c), std::move(plan)});
}

/// A namespace of its own, since every kernel has the same names; its macros end with it.
std::string EmulatedKernels::source_of(std::size_t i) const {
  const plan::Plan& plan = kernels_[i].plan;
  render::RenderedSource source = render::render(plan);
  for (auto& [name, text] : source.headers) {
    for (const auto& [replaced, by] : kReplaced) {
      if (name == replaced) text = by;
    }
    for (const auto& [instruction, by] : kInstructions) {
      const std::size_t at = text.find(instruction);
      if (at != std::string::npos) text.replace(at, instruction.size(), by);
    }
  }
  const bool shares = plan.rows && plan.rows->shares > 1;
  std::string text = "namespace kernel_" + std::to_string(i) + " {\n" + flatten(source) + "}\n";
  const auto export_entry = [&](const char* suffix) {
    text += "extern \"C\" void " + kernel_name(i, suffix) +
            "(const void* params, unsigned blocks, unsigned seed) {\n  using namespace kernel_" +
            std::to_string(i) + ";\n  emulation::launch(" + plan.kernel_name + suffix +
            ", *static_cast<const Params*>(params), kThreads, blocks, seed);\n}\n";
  };
  export_entry("");
  if (shares) export_entry("_combine");
  for (const char* macro : {"TILE_DEVICE", "KERNEL_NAME", "KERNEL_NAME_COMBINE", "SHARES_ROWS",
                            "CLUSTER_DIMS", "KEEPS_INPUTS", "RESCALES_SUMS"}) {
    text += std::string("#undef ") + macro + "\n";
  }
  return text;
}

bool EmulatedKernels::compile() {
  const fs::path folder(folder_), source = folder / "kernels.cpp", library = folder / "kernels.so";
  std::ofstream file(source);
  file << "#include \"" << TILEJIT_SOURCE_DIR << "/tests/emulation/device.hpp\"\n";
  for (std::size_t i = 0; i < kernels_.size(); ++i) file << source_of(i);
  file.close();
  const std::string command =
      std::string(TILEJIT_TEST_COMPILER) +
      " -std=c++20 -O1 -w -U_FORTIFY_SOURCE -shared -fPIC -fno-strict-aliasing -o " +
      library.string() + " " + source.string();
  if (std::system(command.c_str()) != 0) return false;
  library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) ADD_FAILURE() << ::dlerror();
  return library_ != nullptr;
}

void EmulatedKernels::verify_all(Random& random) {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    SCOPED_TRACE(kernels_[i].what + "\n" + to_json(kernels_[i].c.op));
    verify(i, random);
  }
}

void EmulatedKernels::verify(std::size_t i, Random& random) {
  const auto& [what, c, plan] = kernels_[i];
  const spec::Analysis analysis = spec::analyze(c.op);
  std::vector<GuardedTensor> before;
  for (std::size_t t = 0; t < c.op.tensors.size(); ++t) {
    before.emplace_back(c.op.tensors[t], c.symbols);
    if (analysis.access[t] != Access::out) before.back().fill(random);
  }
  HostArguments inputs{.tensors = {}, .scalars = c.scalars, .symbols = c.symbols};
  for (GuardedTensor& tensor : before) inputs.tensors.push_back(tensor.data());
  std::vector<std::byte> partials(static_cast<std::size_t>(plan::partials_bytes(plan)));
  const std::int64_t units = plan::total_units(plan, c.symbols);
  const std::int64_t per_block = plan::units_per_block(plan);
  const auto blocks =
      static_cast<unsigned>((units + per_block - 1) / per_block * plan::blocks_per_unit(plan));
  std::array<std::vector<GuardedTensor>, 2> runs = {before, before};
  for (unsigned seed = 0; seed < runs.size() && blocks > 0; ++seed) {
    const std::vector<std::byte> params = pack(plan, c, runs[seed], partials);
    const auto launch = [&](const char* suffix, unsigned count) {
      const auto entry =
          reinterpret_cast<Launch>(::dlsym(library_, kernel_name(i, suffix).c_str()));
      ASSERT_NE(entry, nullptr);
      entry(params.data(), count, seed);
    };
    launch("", blocks);
    if (!partials.empty()) launch("_combine", static_cast<unsigned>(combining_blocks(plan)));
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
}

}  // namespace tilejit::test
