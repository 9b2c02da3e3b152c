#include "launch/stages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "memory/stream_memory.hpp"
#include "plan/split.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

using plan::Param;

constexpr std::int64_t kAlignment = 256;  // of temporaries, as of memory that the driver allocates

template <typename T>
T read(const std::byte* params, int offset) {
  T value;
  std::memcpy(&value, params + offset, sizeof value);
  return value;
}

/// Those of the launch, without what a node of a graph has not: nothing overlaps an allocation.
LaunchAttributes of_first(const LaunchAttributes& attributes) {
  LaunchAttributes first;
  for (const CUlaunchAttribute& attribute : attributes.of_node()) first.add(attribute);
  return first;
}

/// A stage starts while the one before it ends, and waits for it by an instruction that devices
/// before sm_90 do not have.
LaunchAttributes of_others(const LaunchAttributes& attributes, const Target& target) {
  LaunchAttributes others;
  if (target.major >= 9) others.add(overlap_attribute());
  for (const CUlaunchAttribute& attribute : attributes.of_node()) others.add(attribute);
  return others;
}

const Param& scalar_of(const plan::Plan& plan, int index) {
  return *std::ranges::find_if(plan.params, [&](const Param& param) {
    return param.kind == Param::Kind::scalar && param.index == index;
  });
}

}  // namespace

Stages::Stages(const Library& library, const Artifact& artifact, const Fused& op,
               const spec::Analysis& analysis, const plan::Plan& plan)
    : library_(library), temporaries_(plan.temporaries) {
  for (const Param& param : plan.params) {
    if (param.kind == Param::Kind::pointer) pointers_.push_back(param.offset);
    if (param.kind == Param::Kind::dim) symbols_.emplace_back(to_string(param.dim), param.offset);
  }
  const plan::Split split = plan::split(op, analysis);
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const plan::Part& part = split.parts[i];
    Stage stage{.kernel = std::make_unique<const Kernel::Impl>(library.stages[i], artifact, part.op,
                                                               part.analysis, plan.stages[i]),
                .tensors = part.tensors,
                .scalars = {}};
    for (std::size_t s = 0; s < op.scalars.size(); ++s) {
      const Param& from = scalar_of(plan, static_cast<int>(s));
      const Param& to = scalar_of(plan.stages[i], static_cast<int>(s));
      stage.scalars.push_back({from.offset, to.offset, from.size});
    }
    stages_.push_back(std::move(stage));
  }
}

SymbolValues Stages::symbols_of(const std::byte* params) const {
  SymbolValues symbols;
  for (const auto& [name, offset] : symbols_) {
    symbols.emplace(name, read<std::int64_t>(params, offset));
  }
  return symbols;
}

std::vector<std::int64_t> Stages::place(const SymbolValues& symbols) const {
  std::vector<std::int64_t> offsets = {0};
  for (const plan::Temporary& temporary : temporaries_) {
    const std::int64_t elements = temporary.elements.evaluate(symbols);
    std::int64_t end = 0;
    if (__builtin_mul_overflow(elements, size_bytes(temporary.dtype), &end) ||
        __builtin_add_overflow(end, offsets.back() + kAlignment, &end)) {
      throw Error(ErrorCode::unsupported,
                  "what the operation keeps between its kernels takes more than 2^63-1 bytes; use "
                  "smaller extents");
    }
    offsets.push_back((end - 1) / kAlignment * kAlignment);
  }
  return offsets;
}

void Stages::launch(Stream stream, const std::byte* params,
                    const LaunchAttributes& attributes) const {
  const driver::Table& driver = library_.context->driver();
  const driver::ContextScope scope(*library_.context);
  const SymbolValues symbols = symbols_of(params);
  const std::vector<std::int64_t> offsets = place(symbols);
  const memory::StreamMemory memory(driver, library_.pool.get(),
                                    std::max(offsets.back(), kAlignment), stream);
  std::vector<Argument> args;
  LaunchAttributes own = of_first(attributes);
  for (const Stage& stage : stages_) {
    args.clear();
    for (const int tensor : stage.tensors) {
      const auto number = static_cast<std::size_t>(tensor);
      const CUdeviceptr address =
          number < pointers_.size()
              ? read<CUdeviceptr>(params, pointers_[number])
              : memory.address() + static_cast<CUdeviceptr>(offsets[number - pointers_.size()]);
      args.emplace_back(reinterpret_cast<void*>(address));
    }
    for (std::size_t s = 0; s < stage.scalars.size(); ++s) args.emplace_back(0);  // replaced below
    alignas(16) std::array<std::byte, kMaxParamBytes> bytes;
    const Grid grid = stage.kernel->binder.bind(args, &symbols, bytes);
    if (grid.blocks == 0) continue;
    for (const Copy& scalar : stage.scalars) {
      std::memcpy(bytes.data() + scalar.to, params + scalar.from,
                  static_cast<std::size_t>(scalar.bytes));
    }
    stage.kernel->launch_params(stream, stage.kernel->launched(grid), bytes.data(), own);
    own = of_others(attributes, stage.kernel->artifact.target);
  }
}

KernelInfo Stages::info() const {
  KernelInfo most = stages_.front().kernel->info();
  for (const Stage& stage : stages_) {
    const KernelInfo one = stage.kernel->info();
    most.registers = std::max(most.registers, one.registers);
    most.local_bytes = std::max(most.local_bytes, one.local_bytes);
    most.shared_bytes = std::max(most.shared_bytes, one.shared_bytes);
    most.threads = std::max(most.threads, one.threads);
    most.blocks_per_sm = std::min(most.blocks_per_sm, one.blocks_per_sm);
  }
  return most;
}

}  // namespace tilejit::launch
