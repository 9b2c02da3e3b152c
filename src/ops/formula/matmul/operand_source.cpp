#include "matmul/operand_source.hpp"

#include <algorithm>

namespace tilejit::plan {
namespace {

constexpr int kMostBytes = 16;

bool is_contiguous(const std::vector<Mode>& leaves) {
  return !leaves.empty() && leaves.front().stride.is(1);
}

}  // namespace

std::vector<Dim> OperandSource::dims() const {
  std::vector<Dim> dims;
  const auto add = [&](const std::vector<Mode>& leaves) {
    for (const Mode& leaf : leaves) {
      dims.push_back(leaf.stride);
      if (leaves.size() > 1) dims.push_back(leaf.extent);
    }
  };
  for (const std::vector<Mode>& leaves : batch) add(leaves);
  add(outer);
  add(inner);
  return dims;
}

OperandSource source_of(const formula::ProductOperand& operand, int align,
                        const std::map<std::string, std::int64_t>& symbols) {
  OperandSource source{.dtype = operand.dtype,
                       .stored = operand.stored,
                       .value = operand.value,
                       .batch = operand.batch,
                       .outer = operand.outer,
                       .inner = operand.inner};
  const bool along_k = is_contiguous(source.inner);
  if (!along_k && !is_contiguous(source.outer)) return source;
  source.major = along_k ? atoms::Major::k : atoms::Major::mn;
  const std::vector<Mode>&along = along_k ? source.inner : source.outer,
        &across = along_k ? source.outer : source.inner;
  const auto divides = [&](const Dim& dim, int run) {
    return formula::divisor(dim, symbols) % run == 0;
  };
  const auto fits = [&](int run) {
    const auto steps = [&](const Mode& leaf) { return divides(leaf.stride, run); };
    return align % (run * size_bytes(source.stored)) == 0 &&
           (along.size() == 1 || divides(along.front().extent, run)) &&
           std::all_of(along.begin() + 1, along.end(), steps) &&
           std::ranges::all_of(across, steps) &&
           std::ranges::all_of(source.batch, [&](const std::vector<Mode>& leaves) {
             return std::ranges::all_of(leaves, steps);
           });
  };
  source.run = kMostBytes / std::max(size_bytes(source.dtype), size_bytes(source.stored));
  while (source.run > 1 && !fits(source.run)) source.run /= 2;
  return source;
}

}  // namespace tilejit::plan
