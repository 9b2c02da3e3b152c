#include "figures/widths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"
#include "staged/runs.hpp"

namespace tilejit::figures {
namespace {

using plan::Operand;
using plan::Plan;
using plan::Reach;

constexpr int kMostBytes = 16;  // per access

bool is_wide(const Operand& operand) {
  return operand.reach == Reach::contiguous || operand.reach == Reach::transposed;
}

/// Finds what prevents accesses of more elements.
class Widths {
 public:
  Widths(const Plan& plan, const Tuning& pinned)
      : plan_(plan), tv_(std::get_if<plan::ThreadValue>(&plan.family)), pinned_(pinned) {}

  [[nodiscard]] WidthReason of(const Operand& operand) const {
    if (operand.combined) return {WidthReason::Kind::one_value, "it has one element a block"};
    if (operand.per_row) return {WidthReason::Kind::one_value, "it has one element a row"};
    if (operand.reach == Reach::broadcast) {
      return {WidthReason::Kind::one_value, "one element does for a whole vector"};
    }
    if (std::holds_alternative<plan::Box>(plan_.family)) {
      return {WidthReason::Kind::one_value,
              "boxes are taken element by element, which a warp's lanes make whole lines"};
    }
    if (plan::passes_turned(plan_, operand)) {
      return {WidthReason::Kind::one_value,
              "it lies along the rows, so it passes through shared memory, and lanes store "
              "neighbours"};
    }
    const auto* const staged = std::get_if<plan::StagedRows>(&plan_.family);
    if (staged != nullptr && plan::is_gathered(plan_, *staged, operand)) {
      return {WidthReason::Kind::one_value,
              "its rows are no run, so lanes copy neighbours of a row to shared memory first"};
    }
    if (plan::comes_turned(plan_, operand)) {
      return {WidthReason::Kind::one_value,
              "it lies along the rows, so blocks bring runs of them to shared memory"};
    }
    if (!is_wide(operand)) return strided(operand);
    if (std::holds_alternative<plan::Sheared>(plan_.family) && operand.reach == Reach::transposed) {
      return {
          WidthReason::Kind::widest,
          "its lines are not aligned, so they come in aligned words and are shifted in registers"};
    }
    if (operand.shifted) {
      return {WidthReason::Kind::widest,
              "its rows are not aligned, so each vector comes in two aligned accesses and is "
              "shifted in registers"};
    }
    if (plan_.peeled && is_wide(operand)) {
      return {WidthReason::Kind::widest,
              "its rows are not aligned, so vectors begin where memory is aligned"};
    }
    if (operand.access_bytes == kMostBytes) {
      return {WidthReason::Kind::widest, "the widest that there is"};
    }
    const int elements = 2 * operand.access_bytes / size_bytes(operand.dtype);
    const bool has_all = elements == 2 * plan_.vector;
    if (has_all && fills_widest()) return {WidthReason::Kind::vector, why_vector(), {}};
    if (auto reason = misaligned(operand, elements)) return *reason;
    return {WidthReason::Kind::vector, why_vector(), remedy_of_vector()};
  }

 private:
  [[nodiscard]] const Tensor& tensor_of(const Operand& operand) const {
    return plan_.signature.tensors[static_cast<std::size_t>(operand.tensor)];
  }

  [[nodiscard]] WidthReason strided(const Operand& operand) const {
    const plan::OperandMode& leaves = operand.modes.front();
    if (leaves.size() > 1) {
      return {WidthReason::Kind::strided,
              "its layout splits the innermost mode of the space, so that neighbours have no "
              "common stride"};
    }
    return {WidthReason::Kind::strided,
            fmt::format("neighbours lie {} elements apart, so that each is an access of its own",
                        to_string(leaves.front().stride)),
            fmt::format("lay out {} so that the innermost mode of the space has stride 1",
                        tensor_of(operand).name)};
  }

  /// Why accesses of `elements` elements would not be aligned; nothing if they would.
  [[nodiscard]] std::optional<WidthReason> misaligned(const Operand& operand, int elements) const {
    const Tensor& tensor = tensor_of(operand);
    const int bytes = size_bytes(operand.dtype) * elements;
    if (tensor.align % bytes != 0) {
      return WidthReason{
          WidthReason::Kind::alignment,
          fmt::format("its address is a multiple of {} bytes only", tensor.align),
          fmt::format("promise \"align\": 16 for {}, if its address keeps that", tensor.name)};
    }
    const auto* const tile = std::get_if<plan::Tile>(&plan_.family);
    const std::size_t contiguous =
        operand.reach == Reach::transposed && tile != nullptr ? tile->mode : 0;
    for (std::size_t m = 0; m < operand.modes.size(); ++m) {
      if (m == contiguous) continue;
      for (const Mode& leaf : operand.modes[m]) {
        const std::int64_t divisor = formula::divisor(leaf.stride, plan_.signature.symbols);
        if (divisor % elements != 0) return odd_stride(operand, leaf.stride, divisor);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] WidthReason odd_stride(const Operand& operand, const Dim& stride,
                                       std::int64_t divisor) const {
    const int wanted = kMostBytes / size_bytes(operand.dtype);
    const std::string rows = to_string(stride);
    const bool known = stride.is_known();
    return {WidthReason::Kind::stride,
            known
                ? fmt::format("its stride of {} elements is a multiple of {} only", rows,
                              divisor & -divisor)
                : fmt::format("its stride {} is known to be a multiple of {} only", rows, divisor),
            known ? fmt::format("pad {} to a stride that is a multiple of {} elements",
                                tensor_of(operand).name, wanted)
                  : fmt::format("promise \"divisible_by\": {} for the stride {} of {}, if it keeps "
                                "that",
                                wanted, rows, tensor_of(operand).name)};
  }

  /// A written tensor whose accesses would not be aligned with more elements at once.
  [[nodiscard]] const Operand* binding_output() const {
    const auto binds = [&](const Operand& operand) {
      return operand.written && !operand.per_row && is_wide(operand) &&
             operand.access_bytes < kMostBytes && misaligned(operand, 2 * plan_.vector);
    };
    const auto found = std::ranges::find_if(plan_.operands, binds);
    return found == plan_.operands.end() ? nullptr : &*found;
  }

  [[nodiscard]] bool splits_innermost_mode() const {
    const auto splits = [](const auto& value) { return value.modes.front().size() > 1; };
    return std::ranges::any_of(plan_.operands, splits) || std::ranges::any_of(plan_.places, splits);
  }

  [[nodiscard]] const Operand* widest_element() const {
    const Operand* widest = nullptr;
    for (const Operand& operand : plan_.operands) {
      if (!is_wide(operand)) continue;
      if (widest == nullptr || size_bytes(operand.dtype) > size_bytes(widest->dtype)) {
        widest = &operand;
      }
    }
    return widest;
  }

  /// Whether a vector takes 16 bytes of the widest element.
  [[nodiscard]] bool fills_widest() const {
    return plan_.vector * size_bytes(widest_element()->dtype) >= kMostBytes;
  }

  [[nodiscard]] std::string why_vector() const {
    const std::string vectors =
        fmt::format("vectors have {} element{}", plan_.vector, plan_.vector == 1 ? "" : "s");
    if (fills_widest()) {
      return fmt::format("{}, which are 16 bytes of {}", vectors,
                         tensor_of(*widest_element()).name);
    }
    if (pinned_.vector) return vectors + ", as the spec pins";
    if (tv_ != nullptr && tv_->run <= plan_.vector) {
      return vectors + ", as many as tv makes neighbours";
    }
    if (splits_innermost_mode()) {
      return vectors + ", since a layout splits the innermost mode of the space";
    }
    if (const Operand* output = binding_output()) {
      return fmt::format("{}, since stores are not split and {} is aligned for no more", vectors,
                         tensor_of(*output).name);
    }
    const auto has_gaps = [](const Operand& operand) { return operand.reach == Reach::strided; };
    if (const auto gaps = std::ranges::find_if(plan_.operands, has_gaps);
        std::holds_alternative<plan::Map>(plan_.family) && gaps != plan_.operands.end()) {
      return fmt::format("{}, since elements of longer ones would touch more lines of {} at a time",
                         vectors, tensor_of(*gaps).name);
    }
    if (plan::direction_of(plan_) && !plan::rows_of(plan_)->along())
      return vectors + ", as many as are scanned side by side";
    return vectors + ", since the formula is heavy and stands in the code once an element";
  }

  [[nodiscard]] std::string remedy_of_vector() const {
    if (pinned_.vector) return "leave \"vector\" to the planner";
    const Operand* output = tv_ != nullptr || splits_innermost_mode() ? nullptr : binding_output();
    return output == nullptr ? "" : misaligned(*output, 2 * plan_.vector)->remedy;
  }

  const Plan& plan_;
  const plan::ThreadValue* tv_;
  const Tuning& pinned_;
};

}  // namespace

WidthReason explain_width(const Plan& plan, const Tuning& pinned, std::size_t index) {
  return Widths(plan, pinned).of(plan.operands[index]);
}

}  // namespace tilejit::figures
