#include "box/shared_order.hpp"

#include <algorithm>

#include "box/requests.hpp"
#include "box/walks.hpp"
#include "device/access.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kMostPadding = 17;  // elements
constexpr std::int64_t kSmallElement = 2;  // bytes
// Bytes of the shortest run that is copied beside an input in order, and without one.
constexpr std::int64_t kShortestCopy = 64, kShortestCopyAlone = 256;

/// Whether inputs as large as the space are loaded element by element, which keeps enough under
/// way while runs are copied.
bool has_direct_input(const Plan& plan, const Box& box) {
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    return operand.read && !is_small_part(plan, operand) && transposed_of(box, operand) == nullptr;
  });
}

/// The modes of the operand's run.
Modes modes_of_run(const Plan& plan, const Box& box, const Operand& operand) {
  Modes modes;
  std::int64_t following = 1;
  for (const std::size_t m : order_of(operand)) {
    if (stride_of(operand, m) != following) break;
    if (box.extents[m] > 1) modes.push_back(m);
    if (box.extents[m] < plan.extents[m].value()) break;
    following *= plan.extents[m].value();
  }
  return modes;
}

}  // namespace

void choose_pitch(const Plan& plan, const Box& box, Transposed& transposed) {
  const Operand& operand = operand_of(plan, transposed);
  const std::int64_t unit = box.direct.vector;  // that vectors are aligned
  std::vector<std::int64_t> padding(plan.extents.size(), 0);
  const auto lay_out = [&] {
    transposed.pitch.assign(plan.extents.size(), 0);
    std::int64_t pitch = 1;
    transposed.elements = 1;
    for (std::size_t m = 0; m < plan.extents.size(); ++m) {
      if (box.extents[m] == 1 || stride_of(operand, m) == 0) continue;
      transposed.pitch[m] = pitch;
      transposed.elements += (box.extents[m] - 1) * pitch;
      pitch = pitch * box.extents[m] + padding[m];
    }
  };
  const auto cycles = [&] {
    lay_out();
    const int bytes = size_bytes(operand.dtype);
    return bank_cycles(box, transposed.walk, transposed.pitch, bytes) +
           bank_cycles(box, box.direct, transposed.pitch, bytes);
  };
  double least = cycles();
  for (std::size_t m = plan.extents.size(); m-- > 0;) {
    if (box.extents[m] == 1 || stride_of(operand, m) == 0) continue;
    std::int64_t best = 0;
    for (padding[m] = unit; padding[m] <= kMostPadding; padding[m] += unit) {
      if (const double now = cycles(); now < least) best = padding[m], least = now;
    }
    padding[m] = best;
  }
  lay_out();
}

std::optional<Transposed> copied_by_runs(const Plan& plan, const Box& box,
                                         const Transposed& transposed) {
  const Operand& operand = operand_of(plan, transposed);
  const std::int64_t bytes = size_bytes(operand.dtype);
  if (operand.written || bytes > kSmallElement) return std::nullopt;
  Transposed copied = transposed;
  copied.run = modes_of_run(plan, box, operand);
  if (copied.run.empty()) return std::nullopt;
  const Runs runs = runs_of(box, copied, static_cast<int>(bytes));
  const std::int64_t least = has_direct_input(plan, box) ? kShortestCopy : kShortestCopyAlone;
  if (runs.elements * bytes < least) return std::nullopt;
  std::int64_t pitch = (runs.chunks * kChunkBytes + device::kBankBytes) / bytes;
  for (const std::size_t m : transposed.walk.modes) {
    if (std::ranges::count(copied.run, m) != 0) {
      copied.pitch[m] = stride_of(operand, m);
      continue;
    }
    const auto at = std::ranges::find(box.direct.modes, m) - box.direct.modes.begin();
    const std::int64_t vector = at == 0 ? box.direct.vector : 1;
    if (vector > 1 && stride_of(operand, m) * bytes % kChunkBytes != 0) return std::nullopt;
    const std::int64_t step = box.direct.threads[static_cast<std::size_t>(at)] * vector;
    if (step < box.extents[m] && step * stride_of(operand, m) * bytes % kChunkBytes != 0)
      return std::nullopt;
    copied.pitch[m] = pitch;
    pitch *= box.extents[m];
  }
  copied.elements = pitch;
  return copied;
}

}  // namespace tilejit::plan
