#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace tilejit {

/// A vector of trivially copyable values, the first N of which need no heap.
template <typename T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() = default;
  SmallVector(const SmallVector& other) { append(other.span()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      size_ = 0;
      append(other.span());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~SmallVector() = default;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* data() noexcept { return heap_ ? heap_.get() : few(); }
  [[nodiscard]] const T* data() const noexcept {
    return heap_ ? heap_.get() : const_cast<SmallVector*>(this)->few();
  }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] T& back() noexcept { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return data()[size_ - 1]; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size_}; }

  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() noexcept { --size_; }
  void append(std::span<const T> values) {
    reserve(size_ + values.size());
    std::uninitialized_copy(values.begin(), values.end(), data() + size_);
    size_ += values.size();
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    bool equal = a.size_ == b.size_;
    for (std::size_t i = 0; equal && i < a.size_; ++i) equal = a[i] == b[i];
    return equal;
  }

 private:
  void reserve(std::size_t wanted) {
    if (wanted <= capacity_) return;
    const std::size_t capacity = wanted > 2 * capacity_ ? wanted : 2 * capacity_;
    auto grown = std::make_unique_for_overwrite<T[]>(capacity);
    std::uninitialized_copy(begin(), end(), grown.get());
    heap_ = std::move(grown);
    capacity_ = capacity;
  }
  void take(SmallVector& other) noexcept {
    if (other.heap_) {
      heap_ = std::move(other.heap_);
      capacity_ = std::exchange(other.capacity_, N);
    } else {
      heap_.reset();
      capacity_ = N;
      std::uninitialized_copy(other.few(), other.few() + other.size_, few());
    }
    size_ = std::exchange(other.size_, 0);
  }

  [[nodiscard]] T* few() noexcept { return reinterpret_cast<T*>(few_); }

  std::size_t size_ = 0;
  std::size_t capacity_ = N;
  std::unique_ptr<T[]> heap_;
  alignas(T) std::byte few_[N * sizeof(T)];  // only `size_` of them are values
};

namespace detail {
struct NoLeaves {};

[[nodiscard]] constexpr std::size_t hash_combine(std::size_t seed, std::size_t value) noexcept {
  const std::uint64_t both = std::uint64_t{seed} * 0x9e3779b97f4a7c15u + value;
  const std::uint64_t mixed = (both ^ (both >> 32)) * 0xd6e8feb86659fd93u;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}
}  // namespace detail

/// CuTe's hierarchical tuple: one leaf, or a tuple of such values, its modes. `4` and `(4)` differ:
/// both have rank 1, but depth 0 and 1. A value type; up to 8 leaves need no heap. Braces make a
/// tuple, so copies are written with parentheses; what was moved from can only be assigned to.
template <typename Leaf>
class Nested {
 public:
  Nested() : Nested(Leaf{}) {}
  template <typename T>
  requires(std::convertible_to<T, Leaf> && !std::same_as<std::remove_cvref_t<T>, Nested>)
      Nested(T&& leaf) {  // NOLINT: a leaf is such a value
    leaves_.push_back(Leaf(std::forward<T>(leaf)));
    nodes_.push_back(kLeaf);
  }
  Nested(std::initializer_list<Nested> modes) : Nested(tuple({modes.begin(), modes.size()})) {}

  /// A tuple of `modes`, also when there is only one or none.
  [[nodiscard]] static Nested tuple(std::span<const Nested> modes) {
    Nested result = empty_tuple();
    for (const Nested& mode : modes) result.append(mode);
    return result;
  }
  /// A tuple of leaves.
  [[nodiscard]] static Nested flat(std::span<const Leaf> leaves) {
    Nested result(detail::NoLeaves{});
    result.nodes_.push_back(static_cast<std::int32_t>(leaves.size()));
    for (std::size_t i = 0; i < leaves.size(); ++i) result.nodes_.push_back(kLeaf);
    result.leaves_.append(leaves);
    return result;
  }
  [[nodiscard]] static Nested empty_tuple() {
    Nested result(detail::NoLeaves{});
    result.nodes_.push_back(0);
    return result;
  }

  [[nodiscard]] bool is_leaf() const noexcept { return nodes_[0] == kLeaf; }
  /// Meaningful when is_leaf().
  [[nodiscard]] const Leaf& leaf() const noexcept { return leaves_[0]; }
  /// 1 for a leaf, else the number of modes.
  [[nodiscard]] std::size_t rank() const noexcept {
    return is_leaf() ? 1 : static_cast<std::size_t>(nodes_[0]);
  }
  /// 0 for a leaf.
  [[nodiscard]] std::size_t depth() const noexcept {
    std::size_t node = 0;
    return depth_from(node);
  }
  /// All leaves in order. Valid until this value changes.
  [[nodiscard]] std::span<const Leaf> leaves() const noexcept { return leaves_.span(); }

  /// The i-th mode, i < rank(); mode 0 of a leaf is the leaf. Cost: the nodes before it.
  [[nodiscard]] Nested mode(std::size_t i) const {
    if (is_leaf()) return *this;
    std::size_t node = 1, leaf = 0;
    for (; i > 0; --i) skip(node, leaf);
    return copy_from(node, leaf);
  }
  /// Calls `each(mode)` for every mode in order; a leaf is its own only mode.
  template <typename Each>
  void for_each_mode(Each each) const {
    if (is_leaf()) return each(*this);
    std::size_t node = 1, leaf = 0;
    while (node < nodes_.size()) each(copy_from(node, leaf));
  }
  /// Adds a mode at the end of a tuple.
  void append(const Nested& mode) {
    if (&mode == this) return append(Nested(mode));
    ++nodes_[0];
    nodes_.append(mode.nodes_.span());
    leaves_.append(mode.leaves_.span());
  }
  /// The same nesting with `convert(leaf)` for each leaf.
  template <typename Convert>
  [[nodiscard]] auto map(Convert convert) const {
    Nested<std::remove_cvref_t<decltype(convert(leaves_[0]))>> result(detail::NoLeaves{});
    result.nodes_ = nodes_;
    for (const Leaf& leaf : leaves_) result.leaves_.push_back(convert(leaf));
    return result;
  }
  /// The same nesting with what `split(leaf, leaves)` appends to `leaves` in place of each leaf: a
  /// leaf for one value, a tuple for several or none.
  template <typename Split>
  [[nodiscard]] Nested split(Split split) const {
    Nested result(detail::NoLeaves{});
    const Leaf* leaf = leaves_.begin();
    for (const std::int32_t node : nodes_) {
      if (node != kLeaf) {
        result.nodes_.push_back(node);
        continue;
      }
      const std::size_t before = result.leaves_.size();
      split(*leaf++, result.leaves_);
      const std::size_t count = result.leaves_.size() - before;
      if (count != 1) result.nodes_.push_back(static_cast<std::int32_t>(count));
      for (std::size_t i = 0; i < count; ++i) result.nodes_.push_back(kLeaf);
    }
    return result;
  }
  /// Same nesting, whatever the leaves are.
  template <typename Other>
  [[nodiscard]] bool congruent_to(const Nested<Other>& other) const noexcept {
    return nodes_ == other.nodes_;
  }

  bool operator==(const Nested&) const = default;
  /// The same number for equal values. Needs std::hash<Leaf>.
  [[nodiscard]] std::size_t hash() const noexcept {
    std::size_t result = nodes_.size();
    for (const std::int32_t node : nodes_) {
      result = detail::hash_combine(result, static_cast<std::size_t>(node));
    }
    for (const Leaf& leaf : leaves_) {
      result = detail::hash_combine(result, std::hash<Leaf>{}(leaf));
    }
    return result;
  }

 private:
  template <typename>
  friend class Nested;
  explicit Nested(detail::NoLeaves) {}
  static constexpr std::int32_t kLeaf = -1;

  /// Moves past the subtree that starts at `node` and `leaf`.
  void skip(std::size_t& node, std::size_t& leaf) const noexcept {
    for (std::size_t open = 1; open > 0; ++node) {
      --open;
      if (nodes_[node] == kLeaf) {
        ++leaf;
      } else {
        open += static_cast<std::size_t>(nodes_[node]);
      }
    }
  }
  /// The subtree that starts at `node` and `leaf`, which move past it.
  Nested copy_from(std::size_t& node, std::size_t& leaf) const {
    const std::size_t first_node = node, first_leaf = leaf;
    skip(node, leaf);
    Nested result(detail::NoLeaves{});
    result.nodes_.append(nodes_.span().subspan(first_node, node - first_node));
    result.leaves_.append(leaves_.span().subspan(first_leaf, leaf - first_leaf));
    return result;
  }
  std::size_t depth_from(std::size_t& node) const noexcept {
    const std::int32_t count = nodes_[node++];
    if (count == kLeaf) return 0;
    std::size_t deepest = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      const std::size_t depth = depth_from(node);
      if (depth > deepest) deepest = depth;
    }
    return deepest + 1;
  }

  SmallVector<Leaf, 8> leaves_;
  SmallVector<std::int32_t, 16> nodes_;  // in pre-order: kLeaf, or the number of modes
};

}  // namespace tilejit

template <typename Leaf>
struct std::hash<tilejit::Nested<Leaf>> {
  std::size_t operator()(const tilejit::Nested<Leaf>& nested) const noexcept {
    return nested.hash();
  }
};
