#include "usage/index.hpp"

#include <algorithm>
#include <span>

namespace tilejit::usage {
namespace {

constexpr std::size_t kLookedAt = 64;  // descriptors of a group that are compared

std::uint64_t own_group(const Parts& parts) noexcept {
  return detail::hash_combine(101, parts.kinds[static_cast<std::size_t>(Kind::own)]);
}

std::uint64_t name_group(const Parts& parts) noexcept {
  return detail::hash_combine(102, parts.kinds[static_cast<std::size_t>(Kind::name)]);
}

std::span<const std::uint32_t> last_of(const std::vector<std::uint32_t>& group) noexcept {
  const std::size_t count = std::min(group.size(), kLookedAt);
  return std::span(group).last(count);
}

/// The number of parts that differ; all parts if the numbers of tensors differ.
std::size_t distance(const Parts& a, const Parts& b) noexcept {
  if (a.hashes.size() != b.hashes.size()) return a.hashes.size() + b.hashes.size();
  std::size_t differ = 0;
  for (std::size_t i = 0; i < a.hashes.size(); ++i) differ += a.hashes[i] != b.hashes[i];
  return differ;
}

NearestKernel describe(const Operation& op, const Target& target, const Parts& parts,
                       const Known& known, const Parts& known_parts) {
  NearestKernel nearest{.name = known.op.name(), .target = known.target};
  if (parts.hashes.size() != known_parts.hashes.size()) {
    nearest.field = "/tensors";
    nearest.wanted = std::to_string(op.tensors().size());
    nearest.present = std::to_string(known.op.tensors().size());
    return nearest;
  }
  for (std::size_t i = 0; i < parts.hashes.size(); ++i) {
    if (parts.hashes[i] == known_parts.hashes[i]) continue;
    if (!nearest.field.empty()) {
      ++nearest.more;
      continue;
    }
    nearest.field = place_of(op, i);
    nearest.wanted = text_of(op, target, i);
    nearest.present = text_of(known.op, known.target, i);
  }
  return nearest;
}

}  // namespace

std::optional<std::size_t> Index::find(const Operation& op, const Target& target,
                                       const Parts& parts) const {
  const auto group = by_all_.find(parts.all);
  if (group == by_all_.end()) return std::nullopt;
  for (const std::uint32_t number : group->second) {
    const Known& known = entries_[number].known;
    if (known.target == target && same_operation(known.op, op)) return number;
  }
  return std::nullopt;
}

std::optional<Index::Noted> Index::note(const Operation& op, const Target& target, bool served) {
  const Parts parts = parts_of(op, target);
  const std::lock_guard lock(mutex_);
  Noted noted;
  if (const auto number = find(op, target, parts)) {
    noted.number = *number;
  } else {
    if (entries_.size() == kMost) return std::nullopt;
    noted = {entries_.size(), true};
    entries_.emplace_back(op, target, parts);
    by_all_[parts.all].push_back(static_cast<std::uint32_t>(noted.number));
  }
  Known& known = entries_[noted.number].known;
  ++known.uses;
  if (served && !known.served) serve(noted.number);
  return noted;
}

void Index::serve(std::size_t number) {
  Entry& entry = entries_[number];
  entry.known.served = true;
  const auto value = static_cast<std::uint32_t>(number);
  served_.push_back(value);
  for (std::size_t i = 0; i < kKinds; ++i) {
    near_[entry.parts.without(static_cast<Kind>(i))].push_back(value);
  }
  near_[own_group(entry.parts)].push_back(value);
  near_[name_group(entry.parts)].push_back(value);
}

std::optional<std::size_t> Index::use(const Operation& op, const Target& target) {
  const Parts parts = parts_of(op, target);
  const std::lock_guard lock(mutex_);
  const auto number = find(op, target, parts);
  if (!number || !entries_[*number].known.served) return std::nullopt;
  ++entries_[*number].known.uses;
  return number;
}

std::optional<std::size_t> Index::served(const Operation& op, const Target& target) const {
  const Parts parts = parts_of(op, target);
  const std::lock_guard lock(mutex_);
  const auto number = find(op, target, parts);
  return number && entries_[*number].known.served ? number : std::nullopt;
}

const Index::Entry* Index::nearest_of(const Parts& parts) const {
  const Entry* best = nullptr;
  std::size_t least = 0;
  const auto look_at = [&](const std::vector<std::uint32_t>& group) {
    for (const std::uint32_t number : last_of(group)) {
      const Entry& entry = entries_[number];
      const std::size_t differ = distance(parts, entry.parts);
      if (best == nullptr || differ < least) {
        best = &entry;
        least = differ;
      }
    }
  };
  const auto look_up = [&](std::uint64_t group) {
    if (const auto found = near_.find(group); found != near_.end()) look_at(found->second);
  };
  for (std::size_t i = 0; i < kKinds; ++i) look_up(parts.without(static_cast<Kind>(i)));
  if (best == nullptr) look_up(own_group(parts));
  if (best == nullptr) look_up(name_group(parts));
  if (best == nullptr) look_at(served_);
  return best;
}

std::optional<NearestKernel> Index::nearest(const Operation& op, const Target& target) const {
  const Parts parts = parts_of(op, target);
  const std::lock_guard lock(mutex_);
  const Entry* const best = nearest_of(parts);
  if (best == nullptr) return std::nullopt;
  return describe(op, target, parts, best->known, best->parts);
}

std::vector<std::size_t> Index::alike(const Operation& op, const Target& target) const {
  const Parts parts = parts_of(op, target);
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> numbers;
  if (const auto found = near_.find(own_group(parts)); found != near_.end()) {
    const auto last = last_of(found->second);
    numbers.assign(last.rbegin(), last.rend());
  }
  return numbers;
}

Known Index::at(std::size_t number) const {
  const std::lock_guard lock(mutex_);
  return entries_.at(number).known;
}

std::size_t Index::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace tilejit::usage
