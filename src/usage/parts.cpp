#include "usage/parts.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "operation/descriptor.hpp"
#include "operation/hasher.hpp"

namespace tilejit::usage {
namespace {

using Hash = std::uint64_t;

using operation::Hasher;

Hash hash_of(const Target& target) noexcept {
  return Hasher()
      .add(static_cast<std::uint64_t>(target.number()))
      .add(static_cast<std::uint64_t>(target.feature))
      .hash();
}

Hash hash_of(const std::vector<Symbol>& symbols) noexcept {
  Hasher hasher;
  for (const Symbol& symbol : symbols) {
    hasher.add(symbol.name).add(static_cast<std::uint64_t>(symbol.divisible_by));
  }
  return hasher.hash();
}

Hash hash_of(const std::vector<Scalar>& scalars) noexcept {
  Hasher hasher;
  for (const Scalar& scalar : scalars) hasher.add(scalar.name).add(scalar.dtype);
  return hasher.hash();
}

Hash hash_of(const Tuning& tuning) noexcept {
  Hasher hasher;
  hasher.add(tuning.threads).add(tuning.vector).add(tuning.unroll);
  hasher.add(tuning.row_threads)
      .add(tuning.cluster)
      .add(tuning.splits)
      .add(tuning.register_vectors);
  if (tuning.atomics) hasher.add(std::uint64_t{*tuning.atomics ? 2U : 1U});
  if (tuning.tile) {
    for (const int side : *tuning.tile) hasher.add(static_cast<std::uint64_t>(side));
  }
  if (tuning.tv) hasher.add(tuning.tv->thr).add(tuning.tv->val);
  for (const auto& [name, value] : tuning.constants) hasher.add(name).add(value);
  return hasher.hash();
}

Kind kind_of(std::size_t part, std::size_t first_tensor) noexcept {
  if (part >= first_tensor) {
    constexpr Kind kKindsOfTensor[kTensorParts] = {Kind::other, Kind::dtypes, Kind::layouts};
    return kKindsOfTensor[(part - first_tensor) % kTensorParts];
  }
  if (part >= kFirstOwn) return Kind::own;
  switch (static_cast<Part>(part)) {
    case Part::target: return Kind::target;
    case Part::name: return Kind::name;
    case Part::tuning: return Kind::tuning;
    default: return Kind::other;
  }
}

std::size_t first_tensor_of(const Operation& op) noexcept {
  return kFirstOwn + op.descriptor().own_parts().size();
}

std::string list_text(const Operation& op, Part part) {
  std::string text;
  const auto add = [&](const std::string& item) { text += (text.empty() ? "" : ", ") + item; };
  if (part == Part::symbols) {
    for (const Symbol& symbol : op.symbols()) {
      add(symbol.name + (symbol.divisible_by == 1
                             ? ""
                             : " a multiple of " + std::to_string(symbol.divisible_by)));
    }
  } else {
    for (const Scalar& scalar : op.scalars()) {
      add(scalar.name + ' ' + std::string(to_string(scalar.dtype)));
    }
  }
  return text.empty() ? "none" : text;
}

std::string tuning_text(const Tuning& tuning) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (value) text += (text.empty() ? "" : " ") + std::string(name) + '=' + std::to_string(*value);
  };
  add("threads", tuning.threads);
  add("vector", tuning.vector);
  add("unroll", tuning.unroll);
  add("row_threads", tuning.row_threads);
  add("cluster", tuning.cluster);
  add("splits", tuning.splits);
  add("register_vectors", tuning.register_vectors);
  if (tuning.atomics) add("atomics", *tuning.atomics ? 1 : 0);
  if (tuning.tile) text += " tile";
  if (tuning.tv) text += " tv";
  for (const auto& [name, value] : tuning.constants) text += ' ' + name + '=' + value;
  return text.empty() ? "none" : text;
}

}  // namespace

std::uint64_t Parts::without(Kind kind) const noexcept {
  const auto i = static_cast<std::size_t>(kind);
  return detail::hash_combine(i + 1, all - kinds[i]);
}

Parts parts_of(const Operation& op, const Target& target) noexcept {
  const operation::Descriptor& descriptor = op.descriptor();
  const std::size_t first_tensor = first_tensor_of(op);
  Parts parts;
  const auto add = [&](Hash hash) {
    const std::size_t number = parts.hashes.size();
    parts.hashes.push_back(hash);
    const Hash placed = detail::hash_combine(number + 0x9e37, hash);
    parts.kinds[static_cast<std::size_t>(kind_of(number, first_tensor))] += placed;
    parts.all += placed;
  };
  add(hash_of(target));
  add(Hasher().add(op.name()).hash());
  add(hash_of(op.symbols()));
  add(hash_of(op.scalars()));
  add(hash_of(op.tuning()));
  for (std::size_t i = 0; kFirstOwn + i < first_tensor; ++i) add(descriptor.hash_of_part(i));
  for (const Tensor& tensor : op.tensors()) {
    add(Hasher()
            .add(tensor.name)
            .add(static_cast<std::uint64_t>(tensor.access))
            .add(static_cast<std::uint64_t>(tensor.align))
            .hash());
    add(Hasher().add(tensor.dtype).hash());
    add(Hasher().add(tensor.layout).hash());
  }
  return parts;
}

bool same_operation(const Operation& a, const Operation& b) {
  const auto same_symbol = [](const Symbol& x, const Symbol& y) {
    return x.name == y.name && x.divisible_by == y.divisible_by;
  };
  const auto same_scalar = [](const Scalar& x, const Scalar& y) {
    return x.name == y.name && x.dtype == y.dtype;
  };
  return a.name() == b.name() && a.tensors() == b.tensors() && a.tuning() == b.tuning() &&
         a.descriptor().same_own_parts(b.descriptor()) &&
         std::ranges::equal(a.symbols(), b.symbols(), same_symbol) &&
         std::ranges::equal(a.scalars(), b.scalars(), same_scalar);
}

std::string place_of(const Operation& op, std::size_t part) {
  const std::size_t first_tensor = first_tensor_of(op);
  if (part >= first_tensor) {
    const std::size_t tensor = (part - first_tensor) / kTensorParts;
    constexpr const char* kMembers[kTensorParts] = {"", "/dtype", "/layout"};
    return "/tensors/" + op.tensors()[tensor].name + kMembers[(part - first_tensor) % kTensorParts];
  }
  if (part >= kFirstOwn) return op.descriptor().own_parts()[part - kFirstOwn];
  constexpr const char* kPlaces[] = {"target", "/name", "/symbols", "/scalars", "/tuning"};
  static_assert(std::size(kPlaces) == kFirstOwn);
  return kPlaces[part];
}

std::string text_of(const Operation& op, const Target& target, std::size_t part) {
  const std::size_t first_tensor = first_tensor_of(op);
  if (part >= first_tensor) {
    const Tensor& tensor = op.tensors()[(part - first_tensor) / kTensorParts];
    switch ((part - first_tensor) % kTensorParts) {
      case 0: return tensor.name + " with align " + std::to_string(tensor.align);
      case 1: return std::string(to_string(tensor.dtype));
      default: return core::shortened(to_string(tensor.layout));
    }
  }
  if (part >= kFirstOwn) return op.descriptor().text_of_part(part - kFirstOwn);
  switch (static_cast<Part>(part)) {
    case Part::target: return to_string(target);
    case Part::name: return op.name();
    case Part::tuning: return tuning_text(op.tuning());
    default: return core::shortened(list_text(op, static_cast<Part>(part)));
  }
}

}  // namespace tilejit::usage
