#include "plan/params.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tilejit::plan {
namespace {

/// Fields in order, each naturally aligned.
class ParamList {
 public:
  explicit ParamList(const Plan& plan) : plan_(plan) {}

  void add(Param param) { operation::append_field(params_, std::move(param)); }

  void add_scalar(int index, DType dtype) {
    add({.kind = Param::Kind::scalar,
         .index = index,
         .dtype = dtype,
         .name = "s" + std::to_string(index),
         .size = operation::scalar_bytes(dtype)});
  }

  void add_dim(const Dim& dim) {
    const bool present = std::ranges::any_of(
        params_, [&](const Param& p) { return p.kind == Param::Kind::dim && p.dim == dim; });
    if (dim.is_known() || present) return;
    const auto count = std::ranges::count(params_, Param::Kind::dim, &Param::kind);
    add({.kind = Param::Kind::dim, .dim = dim, .name = "d" + std::to_string(count)});
  }

  void add_dims_of(const std::vector<OperandMode>& modes) {
    for (const OperandMode& leaves : modes) {
      for (const Mode& leaf : leaves) {
        add_dim(leaf.stride);
        if (leaves.size() > 1) add_dim(leaf.extent);
      }
    }
  }

  void add_divisor(std::size_t m) {
    const Dim& extent = plan_.extents[m];
    if (extent.is_known()) return;
    add({.kind = Param::Kind::divisor,
         .dim = extent,
         .per = rows_of(plan_) != nullptr ? (m == 0 ? plan_.vector : 1) : unit_extent(plan_, m),
         .name = "q" + std::to_string(m),
         .size = 16});
  }

  void add_map(const char* name, int tensor, operation::TensorMap map) {
    add({.kind = Param::Kind::tensor_map,
         .index = tensor,
         .map = std::move(map),
         .name = name,
         .size = operation::TensorMap::kBytes});
  }

  [[nodiscard]] std::vector<Param> take() { return std::move(params_); }

 private:
  const Plan& plan_;
  std::vector<Param> params_;
};

/// Adds the extents with which the family's kernel compares coordinates, and the extents and
/// strides from which indices are computed.
void add_dims(const Plan& plan, ParamList& list) {
  const std::vector<Dim> compared =
      std::visit([&](const auto& family) { return family.compared_extents(plan); }, plan.family);
  for (const Dim& extent : compared) list.add_dim(extent);
  for (const Dim& extent : plan.shape) list.add_dim(extent);
  for (const Operand& operand : plan.operands) list.add_dims_of(operand.modes);
  for (const Place& place : plan.places) list.add_dims_of(place.modes);
}

/// Adds the arguments that a launch passes.
void add_arguments(const Fused& op, const Plan& plan, ParamList& list) {
  for (const Operand& operand : plan.operands) {
    list.add({.kind = Param::Kind::pointer,
              .index = operand.tensor,
              .name = "t" + std::to_string(operand.tensor)});
  }
  for (std::size_t s = 0; s < op.scalars.size(); ++s) {
    list.add_scalar(static_cast<int>(s), op.scalars[s].dtype);
  }
}

}  // namespace

std::vector<Param> params_of(const Fused& op, const Plan& plan) {
  ParamList list(plan);
  add_arguments(op, plan, list);
  const Rows* const rows = rows_of(plan);
  if (counts_units(plan) && !std::ranges::all_of(plan.extents, &Dim::is_known)) {
    list.add({.kind = Param::Kind::total, .name = "total"});
  }
  const Matmul* const product = matmul_of(plan);
  if ((rows != nullptr && rows->splits > 1) || leaves_partials(plan)) {
    list.add({.kind = Param::Kind::workspace, .index = 0, .name = "partials"});
  }
  if (counts_tiles(plan)) {
    list.add({.kind = Param::Kind::workspace, .index = 0, .name = "tickets"});
  }
  add_dims(plan, list);
  const std::size_t rank = plan.extents.size();
  for (std::size_t m = 0; m + 1 < rank; ++m) {
    const bool ends_chain =
        rows != nullptr && (m + 1 == rows->first || m + 1 == rows->first + rows->count);
    const bool in_tile = product != nullptr && m < 2;  // tiles are ordered by the kernel
    if (!ends_chain && !in_tile) list.add_divisor(m);
  }
  if (const auto* wgmma = std::get_if<MatmulWgmma>(&plan.family)) {
    list.add_map("map_a", tensor_of(*wgmma, atoms::Operand::a),
                 tensor_map(plan, *wgmma, atoms::Operand::a));
    list.add_map("map_b", tensor_of(*wgmma, atoms::Operand::b),
                 tensor_map(plan, *wgmma, atoms::Operand::b));
    if (wgmma->second)
      list.add_map("map_c", wgmma->second->tensor, second_tensor_map(plan, *wgmma));
  }
  if (const auto* attention = std::get_if<AttentionWgmma>(&plan.family)) {
    list.add_map("map_q", 0, query_map(plan, *attention));
    list.add_map("map_k", attention->key_tensor, key_map(*attention));
    list.add_map("map_v", 1, value_map(plan, *attention));
  }
  return list.take();
}

std::vector<Param> params_of_outline(const Fused& op, const formula::Analysis& analysis,
                                     const Plan& plan) {
  ParamList list(plan);
  add_arguments(op, plan, list);
  for (const auto& [name, divisor] : analysis.symbols) list.add_dim(Dim(name));
  return list.take();
}

}  // namespace tilejit::plan
