#include "formula/drafts.hpp"

#include <algorithm>
#include <utility>

#include "expr/traits.hpp"

namespace tilejit::formula {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;
using expr::TensorRead;

}  // namespace

Drafts::Drafts(const Fused& op, expr::Tree& tree, std::map<NodeId, Factor> factors)
    : op_(op), tree_(tree), spaces_(op, tree), factors_(std::move(factors)) {
  for (const auto& [leaf, factor] : factors_) spaces_.set_shape(leaf, factor.shape);
}

void Drafts::make() {
  group_outputs();
  for (const Group& group : groups_) add_group(group);
  fuse_products();
  keep_old_values();
}

int Drafts::memory_count() const noexcept {
  return static_cast<int>(op_.tensors.size() + results_.size());
}

int Drafts::add_result(const std::string& kind, DType dtype, const Extents& shape) {
  results_.push_back({kind, dtype, shape});
  return memory_count() - 1;
}

Source Drafts::source_of(NodeId leaf) {
  if (node(leaf).op == Op::matmul) {
    const int memory = product_in_memory(leaf);
    return {.memory = memory, .assigned = true, .dtype = expr::held_type(node(leaf))};
  }
  if (const auto factor = factors_.find(leaf); factor != factors_.end()) {
    const int memory = factor_in_memory(leaf, factor->second);
    return {
        .memory = memory, .assigned = true, .dtype = expr::held_type(node(factor->second.value))};
  }
  const TensorRead& read = tree_.reads[static_cast<std::size_t>(node(leaf).source)].what;
  return {.memory = read.tensor,
          .transposed = read.transposed,
          .assigned = read.assigned,
          .dtype = op_.tensors[static_cast<std::size_t>(read.tensor)].dtype};
}

/// The memory that holds an operand as it is: a tensor of its type, or of f32 for tf32, since the
/// product rounds it.
std::optional<Source> Drafts::in_memory(NodeId id) const {
  const bool rounds = node(id).op == Op::cast && node(id).type == tf32;
  const NodeId load = rounds ? node(id).args[0] : id;
  if (node(load).op != Op::load || (rounds && node(load).type != f32)) return std::nullopt;
  const TensorRead& read = tree_.reads[static_cast<std::size_t>(node(load).source)].what;
  return Source{read.tensor, read.transposed, read.assigned, node(id).type};
}

Source Drafts::operand(NodeId id, const char* side) {
  if (const auto source = in_memory(id)) return *source;
  const DType type = node(id).type;
  if (const auto known = operands_.find(id); known != operands_.end()) {
    return {.memory = known->second, .assigned = true, .dtype = type};
  }
  Draft draft{.stores = {{-1, id}}};
  for (const NodeId leaf : spaces_.leaves_of(spaces_.slice_of(id))) {
    draft.leaves.emplace(leaf, source_of(leaf));
  }
  draft.shape = spaces_.broadcast(spaces_.leaves_of(spaces_.slice_of(id)));
  draft.why = std::string("the ") + side + " operand of a product is computed, in " +
              std::string(to_string(type)) +
              "; a product computes on its way only functions of one tensor that few tiles read";
  const Extents shape = draft.shape;
  const int memory = add_once(std::move(draft), "operand", type, shape);
  operands_.emplace(id, memory);
  return {.memory = memory, .assigned = true, .dtype = type};
}

int Drafts::factor_in_memory(NodeId leaf, const Factor& factor) {
  if (const auto known = operands_.find(leaf); known != operands_.end()) return known->second;
  Draft draft{.stores = {{-1, factor.value}}, .shape = factor.space};
  for (const NodeId own : spaces_.leaves_of(spaces_.slice_of(factor.value)))
    draft.leaves.emplace(own, source_of(own));
  draft.why =
      "a factor of an operand is reduced from whole rows, and multiplies the product's sums";
  const int memory =
      add_once(std::move(draft), "factor", expr::held_type(node(factor.value)), factor.shape);
  operands_.emplace(leaf, memory);
  return memory;
}

/// The memory of the one value that `draft` stores, which an equal draft may store already.
int Drafts::add_once(Draft draft, const std::string& kind, DType dtype, const Extents& shape) {
  const std::string text =
      kind + " " + std::string(to_string(dtype)) + formula::text_of(shape) + text_of(draft);
  const auto [same, is_new] = texts_.emplace(text, memory_count());
  if (!is_new) return same->second;
  const int memory = add_result(kind, dtype, shape);
  draft.stores[0].tensor = memory;
  drafts_.push_back(std::move(draft));
  return memory;
}

/// What a draft computes, and where from. Equal values that are written twice have equal texts.
std::string Drafts::text_of(const Draft& draft) const {
  std::string text = formula::text_of(draft.shape);
  for (const auto& [leaf, source] : draft.leaves) {
    text += " " + std::to_string(source.memory) + (source.transposed ? "T" : "") +
            (source.assigned ? "a" : "");
  }
  for (const std::string& line : to_lines(program_of(tree_, slice_of(draft)))) text += "\n" + line;
  return text;
}

int Drafts::product_in_memory(NodeId id) {
  if (const auto known = products_.find(id); known != products_.end()) return known->second;
  Draft draft{.shape = spaces_.shape_of(id), .product = id};
  draft.a = operand(node(id).args[0], "left");
  draft.b = operand(node(id).args[1], "right");
  const auto [same, is_new] = sources_.emplace(std::pair(draft.a, draft.b), memory_count());
  if (!is_new) {
    products_.emplace(id, same->second);
    return same->second;
  }
  const int memory = add_result("product", expr::held_type(node(id)), draft.shape);
  draft.stores = {{memory, id}};
  drafts_.push_back(std::move(draft));
  products_.emplace(id, memory);
  return memory;
}

expr::TreeSlice Drafts::slice_of(const Draft& draft) const {
  expr::TreeSlice slice{.stores = draft.stores,
                        .product = draft.product,
                        .rank = static_cast<int>(draft.shape.size()),
                        .axis = op_.axis};
  slice.sources.assign(tree_.nodes.size(), -1);
  slice.instead.assign(tree_.nodes.size(), kNoNode);
  int number = 0;
  for (const auto& [leaf, source] : draft.leaves)
    slice.sources[static_cast<std::size_t>(leaf)] = number++;
  for (const auto& [load, value] : draft.instead)
    slice.instead[static_cast<std::size_t>(load)] = value;
  return slice;
}

/// Outputs of equal spaces that are made of the same products share a step. An output that is read
/// in its own step is a value there, elsewhere a tensor.
void Drafts::group_outputs() {
  for (std::size_t s = 0; s < tree_.stores.size(); ++s) {
    const bool joined = std::ranges::any_of(groups_, [&](Group& group) { return join(group, s); });
    if (joined) continue;
    const auto leaves = spaces_.leaves_of(slice_with({}, s));
    Group group{.stores = {s}, .products = {}, .shape = spaces_.broadcast(leaves)};
    for (const NodeId leaf : leaves) {
      if (node(leaf).op == Op::matmul) group.products.push_back(leaf);
    }
    group.shape = aligned_shape(s, group.shape);
    groups_.push_back(std::move(group));
  }
}

bool Drafts::join(Group& group, std::size_t store) {
  const auto leaves = spaces_.leaves_of(slice_with(group, store));
  const bool behind =
      std::ranges::any_of(leaves, [&](NodeId leaf) { return is_made_of(leaf, group); });
  if (behind) return false;
  const auto shape = spaces_.meet(leaves);
  if (!shape || aligned_shape(store, *shape) != group.shape) return false;
  std::vector<NodeId> products;
  for (const NodeId leaf : leaves) {
    if (node(leaf).op == Op::matmul) products.push_back(leaf);
  }
  if (products != group.products) return false;
  group.stores.push_back(store);
  return true;
}

/// Whether a leaf's value is there only after the group's step: it is made of one of its outputs,
/// or of that of a step which also writes what is made of them.
bool Drafts::is_made_of(NodeId leaf, const Group& group) const {
  std::vector<bool> seen(tree_.nodes.size(), false);
  std::vector<NodeId> open = {leaf};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id == kNoNode || seen[static_cast<std::size_t>(id)]) continue;
    seen[static_cast<std::size_t>(id)] = true;
    open.insert(open.end(), node(id).args.begin(), node(id).args.end());
    if (node(id).op != Op::load) continue;
    const TensorRead& read = tree_.reads[static_cast<std::size_t>(node(id).source)].what;
    if (!read.assigned) continue;
    const auto stores_it = [&](std::size_t s) { return tree_.stores[s].tensor == read.tensor; };
    if (std::ranges::any_of(group.stores, stores_it)) return true;
    for (const Group& other : groups_) {
      if (std::ranges::none_of(other.stores, stores_it)) continue;
      for (const std::size_t s : other.stores) open.push_back(tree_.stored[s]);
    }
  }
  return false;
}

/// The slice of one output. Loads of the group's outputs have their values.
expr::TreeSlice Drafts::slice_with(const Group& group, std::size_t store) const {
  expr::TreeSlice slice = spaces_.slice_of(tree_.stores[store].value);
  for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
    if (tree_.nodes[i].op != Op::load) continue;
    const TensorRead& read = tree_.reads[static_cast<std::size_t>(tree_.nodes[i].source)].what;
    if (!read.assigned || read.transposed) continue;
    for (const std::size_t s : group.stores) {
      if (tree_.stores[s].tensor != read.tensor) continue;
      slice.sources[i] = -1;
      slice.instead[i] = tree_.stored[s];
    }
  }
  return slice;
}

/// The shape of a space of `leaves`, with the axes that the output adds. An output with fewer modes
/// adds none: it may lack axes over which its value was reduced.
Extents Drafts::aligned_shape(std::size_t store, const Extents& leaves) const {
  const Tensor& output = op_.tensors[static_cast<std::size_t>(tree_.stores[store].tensor)];
  const Extents own = extents_of(output.layout);
  if (own.size() < leaves.size()) return leaves;
  Extents shape = own;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    Dim& extent = shape[own.size() - leaves.size() + i];
    if (!leaves[i].is(1)) extent = leaves[i];
  }
  return shape;
}

void Drafts::add_group(const Group& group) {
  Draft draft{.shape = group.shape};
  for (const std::size_t s : group.stores) {
    const expr::TreeSlice slice = slice_with(group, s);
    for (const NodeId leaf : spaces_.leaves_of(slice)) draft.leaves.emplace(leaf, source_of(leaf));
    for (std::size_t i = 0; i < slice.instead.size(); ++i) {
      if (slice.instead[i] != kNoNode)
        draft.instead.emplace(static_cast<NodeId>(i), slice.instead[i]);
    }
    draft.stores.push_back(tree_.stores[s]);
  }
  drafts_.push_back(std::move(draft));
}

int Drafts::users_of(int memory) const {
  int users = 0;
  for (const Draft& draft : drafts_) {
    users += draft.product != kNoNode && draft.a.memory == memory;
    users += draft.product != kNoNode && draft.b.memory == memory;
    for (const auto& [leaf, source] : draft.leaves) users += source.memory == memory;
  }
  return users;
}

/// Why `user` cannot be the epilogue of `product`; null if it can.
const char* Drafts::refusal(const Draft& user, const Draft& product) const {
  if (user.product != kNoNode) return "one kernel computes one product";
  if (users_of(product.stores[0].tensor) > 1) return "several steps read it";
  if (user.shape != product.shape) return "it repeats along an axis of what it is combined with";
  const expr::TreeSlice slice = slice_of(user);
  const std::vector<bool> needed = needed_by(tree_, slice);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] && expr::combines_elements(tree_.nodes[i].op))
      return "reductions and scans need whole rows of it";
  }
  for (const expr::Store& store : user.stores) {
    if (store.tensor == product.a.memory || store.tensor == product.b.memory)
      return "an output replaces an operand";
  }
  return nullptr;
}

/// Makes steps that read a product its epilogue, where a kernel can.
void Drafts::fuse_products() {
  std::vector<bool> dropped(drafts_.size(), false);
  for (std::size_t p = drafts_.size(); p-- > 0;) {
    Draft& product = drafts_[p];
    const bool is_raw = product.product != kNoNode && product.leaves.empty() &&
                        products_.contains(product.product) &&
                        products_[product.product] == product.stores[0].tensor;
    if (!is_raw) continue;
    const int memory = product.stores[0].tensor;
    for (std::size_t u = p + 1; u < drafts_.size(); ++u) {
      Draft& user = drafts_[u];
      if (dropped[u] || !user.leaves.contains(product.product)) continue;
      if (user.leaves.at(product.product).memory != memory) continue;
      if (const char* const why = refusal(user, product)) {
        product.why = std::string("it is no part of the step that reads it: ") + why;
        continue;
      }
      user.leaves.erase(product.product);
      user.product = product.product;
      user.a = product.a;
      user.b = product.b;
      dropped[p] = true;
      break;
    }
  }
  std::vector<Draft> kept;
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    if (!dropped[i]) kept.push_back(std::move(drafts_[i]));
  }
  drafts_ = std::move(kept);
}

}  // namespace tilejit::formula
