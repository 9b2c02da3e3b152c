// The order of drafts: each comes after those that it reads, and before those that replace what it
// reads.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "formula/drafts.hpp"

namespace tilejit::formula {
namespace {

using expr::kNoNode;
using expr::NodeId;

bool writes(const Draft& draft, int memory) {
  return std::ranges::count(draft.stores, memory, &expr::Store::tensor) != 0;
}

template <class Predicate>
bool any_source(const Draft& draft, const Predicate& predicate) {
  if (draft.product != kNoNode && (predicate(draft.a) || predicate(draft.b))) return true;
  return std::ranges::any_of(draft.leaves,
                             [&](const auto& leaf) { return predicate(leaf.second); });
}

bool reads(const Draft& draft, int memory, bool assigned) {
  return any_source(draft, [&](const Source& source) {
    return source.memory == memory && source.assigned == assigned;
  });
}

/// Whether `later` cannot start before `first` has ended.
bool waits_for(const Draft& later, const Draft& first) {
  return std::ranges::any_of(
             first.stores,
             [&](const expr::Store& store) { return reads(later, store.tensor, true); }) ||
         std::ranges::any_of(later.stores, [&](const expr::Store& store) {
           return reads(first, store.tensor, false);
         });
}

}  // namespace

/// Whether `draft` reads elements of `memory` that it has replaced by then: it writes them, and
/// reads them at other places than their own.
bool Drafts::replaces_early(const Draft& draft, int memory) const {
  return writes(draft, memory) && any_source(draft, [&](const Source& source) {
           return source.memory == memory && source.transposed && !source.assigned;
         });
}

/// Sorts the drafts. Returns false, with those sorted that can be, if some wait for each other.
bool Drafts::order() {
  std::vector<Draft> sorted;
  while (!drafts_.empty()) {
    const auto ready = std::ranges::find_if(drafts_, [&](const Draft& draft) {
      return std::ranges::none_of(
          drafts_, [&](const Draft& other) { return &other != &draft && waits_for(draft, other); });
    });
    if (ready == drafts_.end()) break;
    sorted.push_back(std::move(*ready));
    drafts_.erase(ready);
  }
  const bool all = drafts_.empty();
  std::ranges::move(drafts_, std::back_inserter(sorted));
  drafts_ = std::move(sorted);
  return all;
}

/// Copies old values of tensors that would be replaced before they are read.
void Drafts::keep_old_values() {
  for (int t = 0; t < static_cast<int>(op_.tensors.size()); ++t) {
    const bool early =
        std::ranges::any_of(drafts_, [&](const Draft& draft) { return replaces_early(draft, t); });
    if (early) snapshot(t);
  }
  for (int t = 0; !order(); ++t) {
    if (t == static_cast<int>(op_.tensors.size())) {
      throw std::logic_error(
          "the steps of the formula wait for each other; this is a bug of libtilejit: please "
          "report "
          "the operation");
    }
    const bool replaced =
        std::ranges::any_of(drafts_, [&](const Draft& draft) { return writes(draft, t); });
    const bool read =
        std::ranges::any_of(drafts_, [&](const Draft& draft) { return reads(draft, t, false); });
    if (replaced && read) snapshot(t);
  }
}

/// Adds a step that copies tensor `memory`, and makes all steps read the copy, but for what the
/// step that replaces it reads element by element.
void Drafts::snapshot(int memory) {
  const Tensor& tensor = op_.tensors[static_cast<std::size_t>(memory)];
  Draft copy{.shape = extents_of(tensor.layout)};
  copy.why = "'" + tensor.name + "' is replaced before its old value is read for the last time";
  const int kept = add_result("copy", tensor.dtype, copy.shape);
  for (Draft& draft : drafts_) {
    const bool replaces = writes(draft, memory);
    const auto redirect = [&](Source& source) {
      if (source.memory != memory || source.assigned) return;
      source.memory = kept;
      source.assigned = true;
    };
    if (draft.product != kNoNode) {
      redirect(draft.a);
      redirect(draft.b);
    }
    for (auto& [leaf, source] : draft.leaves) {
      if (!replaces || source.transposed) redirect(source);
    }
  }
  expr::TreeNotes notes(tree_);
  expr::Node load;
  load.op = expr::Op::load;
  load.type = tensor.dtype;
  load.source = notes.read({memory, false, false}, {});
  const auto id = static_cast<NodeId>(tree_.nodes.size());
  tree_.nodes.push_back(load);
  copy.leaves.emplace(id, Source{.memory = memory, .dtype = tensor.dtype});
  copy.stores = {{kept, id}};
  drafts_.insert(drafts_.begin(), std::move(copy));
}

}  // namespace tilejit::formula
