#include "figures/figures.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "device/occupancy.hpp"
#include "figures/demand.hpp"
#include "figures/of_families.hpp"
#include "figures/prediction.hpp"
#include "figures/products.hpp"
#include "figures/value.hpp"
#include "figures/work.hpp"

namespace tilejit::figures {
namespace {

using plan::Operand;
using plan::Plan;
using plan::Reach;

int vectors_in_flight(const Plan& plan, const Operand& operand) {
  if (!operand.read || operand.reach == Reach::broadcast) return 0;
  return std::visit([&](const auto& family) { return vectors_ahead(plan, family, operand); },
                    plan.family);
}

std::optional<std::int64_t> bytes_moved(const Operand& operand, const Plan& plan,
                                        const SymbolValues& symbols) {
  Product bytes;
  bytes.times(std::int64_t{size_bytes(operand.dtype)} * (operand.read && operand.written ? 2 : 1));
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    const auto extent = value_of(plan::counted_extent(plan, m), symbols);
    if (extent == 0) return 0;
    if (!extent) return std::nullopt;
    for (const Mode& leaf : operand.modes[m]) {
      if (!leaf.stride.is(0)) bytes.times(value_of(leaf.extent, symbols));
    }
  }
  return bytes.value();
}

OperandFigures figures_of_operand(const Plan& plan, const Operand& operand,
                                  const SymbolValues& symbols) {
  if (const plan::OperandSource* const source = source_of(plan, operand))
    return figures_of_source(plan, operand, *source, symbols);
  const int bytes = size_bytes(operand.dtype);
  return {.name = name_of(plan, operand),
          .access_elements = operand.access_bytes / bytes,
          .access_bytes = operand.access_bytes,
          .bytes_in_flight = std::int64_t{vectors_in_flight(plan, operand)} * plan.vector * bytes,
          .bytes_moved = bytes_moved(operand, plan, symbols),
          .sectors = count_sectors(plan, operand, symbols)};
}

std::optional<std::int64_t> count_blocks(const Plan& plan, const SymbolValues& symbols) {
  Product units;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    const auto extent = value_of(plan::counted_extent(plan, m), symbols);
    const std::int64_t per = plan::unit_extent(plan, m);
    if (!extent || per != 0)
      units.times(extent ? std::optional(core::ceil_div(*extent, per)) : extent);
  }
  const auto count = units.value();
  if (!count) return std::nullopt;
  const std::int64_t per = plan::units_per_block(plan);
  Product blocks;
  blocks.times(core::ceil_div(*count, per));
  blocks.times(plan::blocks_per_unit(plan));
  return blocks.value();
}

int resident_threads(const Plan& plan, const device::Device& device,
                     const std::optional<std::int64_t>& blocks) {
  std::int64_t resident =
      device::occupancy_of(device, {.threads = plan.threads, .shared_bytes = shared_bytes_of(plan)})
          .blocks;
  if (blocks) {
    resident = std::min(resident, core::ceil_div(*blocks, device.multiprocessors));
  }
  return static_cast<int>(resident) * plan.threads;
}

std::optional<std::int64_t> count_elements(const Plan& plan, const SymbolValues& symbols) {
  Product count;
  for (const Dim& extent : plan.extents) count.times(value_of(extent, symbols));
  return count.value();
}

void predict(const Plan& plan, const SymbolValues& symbols, Figures& figures) {
  std::int64_t bytes = 0;
  for (const OperandFigures& operand : figures.operands) {
    if (!operand.bytes_moved || __builtin_add_overflow(bytes, *operand.bytes_moved, &bytes)) return;
  }
  figures.bytes_moved = bytes;
  const device::Device& device = *figures.device;
  figures.memory_ms = static_cast<double>(bytes) / (device.gigabytes_per_second * 1e6);
  const auto products = product_ms(plan, device, symbols);
  if (bytes == 0 || !figures.elements || !products) return;
  const Work work = work_of(plan);
  const auto elements = static_cast<double>(*figures.elements);
  figures.arithmetic_share = (device.milliseconds(elements * work.f32, device.f32) +
                              device.milliseconds(elements * work.f64, device.f64) + *products) /
                             *figures.memory_ms;
  figures.special_share =
      device.milliseconds(elements * work.special, device.special) / *figures.memory_ms;
}

/// The sums of the parts' times, each of which counts a launch. The part that takes longest decides
/// the limit.
void add_predictions(const Plan& plan, Figures& figures) {
  const auto predicts = [](const Figures& part) { return !part.predicted.empty(); };
  if (!std::ranges::all_of(figures.parts, predicts)) return;
  const auto devices = device::devices_of(plan.target);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    Predicted all{.device = &devices[d]};
    double longest = 0;
    for (const Figures& part : figures.parts) {
      const Predicted& one = part.predicted[d];
      all.us += one.us - (all.us > 0 ? saved_by_following() : 0);
      if (one.us > longest) longest = one.us, all.limit = one.limit;
    }
    figures.predicted.push_back(all);
  }
}

Figures figures_of_parts(const Plan& plan, const SymbolValues& symbols) {
  Figures figures{.device = &device::device_of(plan.target)};
  std::int64_t bytes = 0;
  bool known = true;
  for (const Operand& operand : plan.operands) {
    figures.operands.push_back(
        {.name = name_of(plan, operand), .bytes_moved = bytes_moved(operand, plan, symbols)});
    const auto moved = figures.operands.back().bytes_moved;
    known = known && moved && !__builtin_add_overflow(bytes, *moved, &bytes);
  }
  if (known) figures.bytes_moved = bytes;
  figures.elements = count_elements(plan, symbols);
  double memory_ms = 0, arithmetic_ms = 0, special_ms = 0;
  for (const Plan& one : plan::parts_of(plan)) {
    figures.parts.push_back(figures_of(one, symbols));
    const Figures& part = figures.parts.back();
    known = known && part.memory_ms;
    if (!known) continue;
    memory_ms += *part.memory_ms;
    arithmetic_ms += *part.memory_ms * part.arithmetic_share;
    special_ms += *part.memory_ms * part.special_share;
  }
  if (!known) return figures;
  add_predictions(plan, figures);
  figures.memory_ms = memory_ms;
  if (memory_ms == 0) return figures;
  figures.arithmetic_share = arithmetic_ms / memory_ms;
  figures.special_share = special_ms / memory_ms;
  return figures;
}

}  // namespace

const std::string& name_of(const Plan& plan, const Operand& operand) {
  return plan.signature.tensors[static_cast<std::size_t>(operand.tensor)].name;
}

std::string_view Figures::limit() const noexcept {
  if (!predicted.empty()) return predicted.front().limit;
  const double most = std::max({1.0, arithmetic_share, special_share});
  if (most == 1.0) return "memory";
  return most == arithmetic_share ? "arithmetic" : "special functions";
}

std::optional<double> Figures::predicted_ms() const noexcept {
  if (!predicted.empty()) return predicted.front().us / 1e3;
  if (!memory_ms) return std::nullopt;
  return *memory_ms * std::max({1.0, arithmetic_share, special_share});
}

std::int64_t shared_bytes_of(const Plan& plan) {
  return std::visit([&](const auto& family) { return shared_bytes(plan, family); }, plan.family);
}

Figures figures_of(const Plan& plan, const SymbolValues& symbols) {
  if (!plan::parts_of(plan).empty()) return figures_of_parts(plan, symbols);
  Figures figures{.device = &device::device_of(plan.target), .values = thread_values(plan)};
  for (const Operand& operand : plan.operands) {
    figures.operands.push_back(figures_of_operand(plan, operand, symbols));
    figures.bytes_in_flight += figures.operands.back().bytes_in_flight;
    if (operand.reach == Reach::transposed) figures.transposed = transposed_values(plan, operand);
  }
  figures.blocks = count_blocks(plan, symbols);
  figures.elements = count_elements(plan, symbols);
  figures.resident_threads = resident_threads(plan, *figures.device, figures.blocks);
  const plan::Rows* const rows = plan::rows_of(plan);
  const auto* const wgmma = std::get_if<plan::MatmulWgmma>(&plan.family);
  const bool persists =
      (rows != nullptr && rows->ahead) || (wgmma != nullptr && wgmma->splits == 1);
  if (figures.blocks && persists) {  // each block takes one row, or tile, after another
    const std::int64_t at_once =
        std::int64_t{figures.device->multiprocessors} * figures.resident_threads / plan.threads;
    figures.blocks = std::min(*figures.blocks, at_once);
  }
  predict(plan, symbols, figures);
  if (plan::matmul_of(plan) == nullptr) figures.demand = demand_of(plan, figures, symbols);
  if (!figures.demand) return figures;
  for (const device::Device& device : device::devices_of(plan.target)) {
    const Prediction prediction = predict_launch(*figures.demand, device, *figures.bytes_moved);
    figures.predicted.push_back({&device, prediction.us, prediction.limit});
  }
  return figures;
}

}  // namespace tilejit::figures
