#include "reference/block.hpp"

#include <algorithm>

#include "arithmetic/cast.hpp"
#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "arithmetic/operations.hpp"
#include "expr/real_function.hpp"
#include "reference/cast.hpp"
#include "reference/corrected_bounds.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::reference {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;

bool is_uniform(Op op) noexcept {
  return op == Op::constant || op == Op::scalar || op == Op::extent;
}

// The columns of all nodes together should stay in a core's L2 cache.
std::size_t choose_capacity(std::size_t nodes) noexcept {
  return std::clamp<std::size_t>(32768 / std::max<std::size_t>(nodes, 1), 32, 512);
}

}  // namespace

Block::Block(const Problem& problem, const Pass& pass, const Results& results,
             WithBounds with_bounds)
    : problem_(problem),
      pass_(pass),
      results_(results),
      capacity_(choose_capacity(pass.nodes.size())),
      with_bounds_(with_bounds == WithBounds::yes),
      tensor_modes_(problem.tensors.size()),
      node_modes_(problem.program.nodes.size()),
      reals_(pass.nodes.size() * capacity_),
      integers_(pass.nodes.size() * capacity_),
      bounds_(with_bounds_ ? pass.nodes.size() * capacity_ : 0),
      offsets_((problem.tensors.size() + 1) * capacity_) {
  place_columns();
  count_ = capacity_;
  for (const NodeId id : pass.nodes) {
    if (is_uniform(problem.program.nodes[id].op)) fill_uniform(id);
  }
}

void Block::place_columns() {
  columns_.resize(problem_.program.nodes.size());
  const auto reach = [&](int tensor) {
    tensor_modes_[tensor] = modes_in_order(pass_, problem_.tensors[tensor].modes);
  };
  for (const expr::Store& store : pass_.stores) reach(store.tensor);
  for (std::size_t i = 0; i < pass_.nodes.size(); ++i) {
    const NodeId id = pass_.nodes[i];
    const Node& node = problem_.program.nodes[id];
    columns_[id] = i;
    if (node.op == Op::load) reach(node.source);
    if (node.op == Op::index) node_modes_[id] = modes_in_order(pass_, place_modes(node));
    if (is_known_before(node.op)) node_modes_[id] = modes_in_order(pass_, results_[id].modes);
  }
}

// As for a tensor that holds the offset of each coordinate.
std::vector<ModeLeaves> Block::place_modes(const Node& node) const {
  std::vector<ModeLeaves> modes(problem_.shape.size());
  for (std::size_t axis = 0; axis < modes.size(); ++axis) {
    if (expr::has_axis(node.axes, axis)) modes[axis] = {{problem_.shape[axis], 1}};
  }
  return modes;
}

void Block::run(std::int64_t first, std::size_t count) {
  count_ = count;
  for (std::size_t t = 0; t < tensor_modes_.size(); ++t) {
    if (tensor_modes_[t].empty()) continue;
    fill_offsets(tensor_modes_[t], pass_.shape, first, {offsets_.data() + t * capacity_, count});
  }
  for (const NodeId id : pass_.nodes) {
    const Node& node = problem_.program.nodes[id];
    if (is_uniform(node.op)) continue;
    if (node.op == Op::index) {
      fill_offsets(node_modes_[id], pass_.shape, first, {integers_of(id), count});
    } else if (is_known_before(node.op)) {
      read_result(node, id, first);
    } else {
      compute(id);
      if (with_bounds_ && !problem_.errors.empty()) add_own_error(id);
    }
  }
}

void Block::read_result(const Node& node, NodeId id, std::int64_t first) {
  const std::span<std::int64_t> at{offsets_.data() + tensor_modes_.size() * capacity_, count_};
  fill_offsets(node_modes_[id], pass_.shape, first, at);
  const Result& result = results_[id];
  for (std::size_t i = 0; i < count_; ++i) {
    if (is_floating(node.type)) {
      reals_of(id)[i] = result.reals[at[i]];
    } else {
      integers_of(id)[i] = result.integers[at[i]];
    }
    if (with_bounds_) bounds_of(id)[i] = result.bounds[at[i]];
  }
}

std::span<const double> Block::reals(NodeId id) const {
  return {reals_.data() + column(id), count_};
}
std::span<const std::int64_t> Block::integers(NodeId id) const {
  return {integers_.data() + column(id), count_};
}
std::span<const double> Block::bounds(NodeId id) const {
  return {bounds_.data() + column(id), count_};
}
Values Block::values(NodeId id, std::int64_t at, std::int64_t count) const {
  const auto first = static_cast<std::size_t>(at), length = static_cast<std::size_t>(count);
  Values values;
  if (is_floating(type(id))) {
    values.reals = reals(id).subspan(first, length);
  } else {
    values.integers = integers(id).subspan(first, length);
  }
  if (with_bounds_) values.bounds = bounds(id).subspan(first, length);
  return values;
}

std::span<const std::int64_t> Block::offsets(int tensor) const {
  return {offsets_.data() + tensor * capacity_, count_};
}

void Block::fill_uniform(NodeId id) {
  const Node& node = problem_.program.nodes[id];
  if (is_floating(node.type)) return fill_uniform_real(node, id);
  std::int64_t value = 0;
  if (node.op == Op::scalar) {
    value = problem_.scalars[node.source].bits();
  } else if (node.op == Op::extent) {
    value = extent_of(node);
  } else {
    value = wrap(static_cast<std::uint64_t>(std::get<std::int64_t>(node.constant)), node.type);
  }
  std::fill_n(integers_of(id), capacity_, value);
}

// Scalars and extents are passed in the type that they compute in; literals are written in it.
// Integers are rounded once, also to f32.
void Block::fill_uniform_real(const Node& node, NodeId id) {
  double value = 0;
  if (node.op == Op::constant) {
    value = std::get<double>(node.constant);
    if (with_bounds_) std::fill_n(bounds_of(id), capacity_, constant_bound(node.type, value));
  } else {
    const Number given = node.op == Op::scalar ? problem_.scalars[node.source] : extent_of(node);
    const DType from = given.exceeds_i64() ? u64 : i64, to = node.type == f64 ? f64 : f32;
    value = given.is_integer() ? cast_integer(from, to, given.bits())
                               : round_to(to, given.to<double>());
  }
  std::fill_n(reals_of(id), capacity_, value);
  if (node.op == Op::constant) limit(node, id);
}

// Wraps if another extent is 0; only then may the product be too large.
std::int64_t Block::extent_of(const Node& node) const {
  std::uint64_t product = 1;
  for (std::size_t axis = 0; axis < problem_.shape.size(); ++axis) {
    if (!expr::has_axis(node.axes, axis)) continue;
    product *= static_cast<std::uint64_t>(problem_.shape[axis]);
  }
  return static_cast<std::int64_t>(product);
}

void Block::compute(NodeId id) {
  const Node& node = problem_.program.nodes[id];
  if (node.op == Op::load) return load(node, id);
  if (is_comparison(node.op)) return compute_comparison(node, id);
  if (node.op == Op::where) {
    select(node, id);
  } else if (node.op == Op::cast) {
    cast(node, id);
  } else if (is_floating(node.type)) {
    compute_reals(node, id);
  } else {
    compute_integers(node, id);
  }
  if (!is_floating(node.type)) return;
  if (node.op != Op::where) limit(node, id);
  if (with_bounds_) tighten(id);
}

void Block::load(const Node& node, NodeId id) {
  const TensorView& tensor = problem_.tensors[node.source];
  if (tensor.kept != nullptr) return load_kept(*tensor.kept, node, id);
  const auto* base = static_cast<const std::byte*>(tensor.data);
  const std::span<const std::int64_t> at = offsets(node.source);
  const int bytes = size_bytes(tensor.dtype);
  if (is_floating(node.type)) {
    for (std::size_t i = 0; i < count_; ++i) {
      reals_of(id)[i] = decode(tensor.dtype, base + at[i] * bytes);
    }
  } else {
    for (std::size_t i = 0; i < count_; ++i) {
      integers_of(id)[i] = load_integer(tensor.dtype, base + at[i] * bytes);
    }
  }
}

void Block::load_kept(const KeptValues& kept, const Node& node, NodeId id) {
  const std::span<const std::int64_t> at = offsets(node.source);
  for (std::size_t i = 0; i < count_; ++i) {
    const auto offset = static_cast<std::size_t>(at[i]);
    if (is_floating(node.type)) {
      reals_of(id)[i] = kept.reals[offset];
    } else {
      integers_of(id)[i] = kept.integers[offset];
    }
    if (with_bounds_ && !kept.bounds.empty()) bounds_of(id)[i] = kept.bounds[offset];
  }
}

void Block::cast(const Node& node, NodeId id) {
  const NodeId arg = node.args[0];
  const DType from = type(arg), to = node.type;
  for (std::size_t i = 0; i < count_; ++i) {
    if (is_floating(to)) {
      reals_of(id)[i] = is_floating(from) ? cast_real(from, to, reals(arg)[i])
                                          : cast_integer(from, to, integers(arg)[i]);
    } else {
      integers_of(id)[i] = is_floating(from) ? real_to_integer(reals(arg)[i], to)
                                             : integer_to_integer(integers(arg)[i], to);
    }
  }
  if (!with_bounds_) return;
  for (std::size_t i = 0; i < count_; ++i) {
    bounds_of(id)[i] = cast_bound(from, to, approx(arg, i), approx(id, i).value);
  }
}

void Block::compute_reals(const Node& node, NodeId id) {
  double* const out = reals_of(id);
  // A missing operand is replaced by the first, which every operation has.
  const auto column = [&](int k) {
    return reals(node.args[k] == kNoNode ? node.args[0] : node.args[k]).data();
  };
  const double *const a = column(0), *const b = column(1), *const c = column(2);
  for (std::size_t i = 0; i < count_; ++i) out[i] = apply(node.op, {a[i], b[i], c[i]});
  if (!with_bounds_) return;
  for (std::size_t i = 0; i < count_; ++i) {
    bounds_of(id)[i] = real_bound(node.op, node.type, out[i], operands(node, i));
  }
}

void Block::compute_integers(const Node& node, NodeId id) {
  std::int64_t* const out = integers_of(id);
  const auto column = [&](int k) {
    return integers(node.args[k] == kNoNode ? node.args[0] : node.args[k]).data();
  };
  const std::int64_t *const a = column(0), *const b = column(1), *const c = column(2);
  for (std::size_t i = 0; i < count_; ++i) out[i] = apply(node.op, node.type, {a[i], b[i], c[i]});
  if (!with_bounds_) return;
  for (std::size_t i = 0; i < count_; ++i) {
    bounds_of(id)[i] = integer_bound(node.op, node.type, approx(id, i).value, operands(node, i));
  }
}

void Block::compute_comparison(const Node& node, NodeId id) {
  const auto [a, b, unused] = node.args;
  const DType operand = type(a);
  for (std::size_t i = 0; i < count_; ++i) {
    integers_of(id)[i] = is_floating(operand)
                             ? expr::compare(node.op, reals(a)[i], reals(b)[i])
                             : compare(node.op, operand, integers(a)[i], integers(b)[i]);
    if (with_bounds_) bounds_of(id)[i] = comparison_bound(approx(a, i), approx(b, i));
  }
}

void Block::select(const Node& node, NodeId id) {
  for (std::size_t i = 0; i < count_; ++i) {
    const bool condition = integers(node.args[0])[i] != 0;
    const NodeId chosen = condition ? node.args[1] : node.args[2];
    const NodeId other = condition ? node.args[2] : node.args[1];
    if (is_floating(node.type)) {
      reals_of(id)[i] = reals(chosen)[i];
    } else {
      integers_of(id)[i] = integers(chosen)[i];
    }
    if (with_bounds_) {
      bounds_of(id)[i] = where_bound(bounds(node.args[0])[i], approx(chosen, i), approx(other, i));
    }
  }
}

// For corrected results the bound is smaller than the bounds of their operations add up to. If
// these are 0, since two passes round nothing, it holds for kernels of one pass: parts of a row
// have centres of their own, and round where they move to a common one.
void Block::tighten(NodeId id) {
  const auto correction = expr::find_correction(problem_.program, id);
  if (!correction) return;
  const bool has_values = has_exact_values(problem_.program, *correction);
  const bool of_mean = correction->of == expr::Correction::Of::mean;
  const std::int64_t count = extent_of(problem_.program.nodes[correction->count]);
  for (std::size_t i = 0; i < count_; ++i) {
    double& allowed = bounds_of(id)[i];
    const bool rounds_nothing = allowed == 0 && std::isfinite(reals(id)[i]);
    if (!has_values && !rounds_nothing) continue;
    CorrectedRow row{count, approx(correction->sum, i), approx(correction->squares, i), {}};
    if (of_mean) row.mean = approx(correction->mean, i);
    const double bound =
        of_mean ? corrected_mean_bound(type(id), row) : corrected_squares_bound(type(id), row);
    allowed = rounds_nothing ? bound : std::min(allowed, bound);
  }
}

void Block::add_own_error(NodeId id) {
  const OwnError& error = problem_.errors[static_cast<std::size_t>(id)];
  if ((error.relative == 0 && error.absolute == 0) || !is_floating(type(id))) return;
  for (std::size_t i = 0; i < count_; ++i) {
    if (error.overflows != kNoNode && std::isinf(reals(error.overflows)[i]))
      bounds_of(id)[i] = kInfinity;
    bounds_of(id)[i] = with_error(error, approx(id, i));
  }
}

void Block::limit(const Node& node, NodeId id) {
  const Arithmetic& m = arithmetic(node.type);
  double* const values = reals_of(id);
  if (!with_bounds_) {
    for (std::size_t i = 0; i < count_; ++i) values[i] = in_range(m, values[i]);
    return;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const Approx limited = in_range(m, Approx{values[i], bounds_of(id)[i]});
    values[i] = limited.value;
    bounds_of(id)[i] = limited.bound;
  }
}

Approx Block::approx(NodeId id, std::size_t i) const {
  const double value =
      is_floating(type(id)) ? reals(id)[i] : integer_to_real(integers(id)[i], type(id));
  return {value, bounds(id)[i]};
}

Approxes Block::operands(const Node& node, std::size_t i) const {
  Approxes args;
  for (std::size_t k = 0; k < args.size() && node.args[k] != kNoNode; ++k) {
    args[k] = approx(node.args[k], i);
  }
  return args;
}

}  // namespace tilejit::reference
