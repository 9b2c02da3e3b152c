#include "tilejit/tv.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "tilejit/error.hpp"
#include "tilejit/indexing.hpp"

namespace tilejit {
namespace {

constexpr std::int64_t kWarp = 32, kBanks = 32, kWordBytes = 4, kMostValues = 4096;

void check_compact(const char* name, const Layout& layout) {
  if (is_compact(layout)) return;
  throw Error(ErrorCode::invalid_layout,
              std::string("make_layout_tv: the ") + name + " layout " +
                  core::shortened(to_string(layout)) +
                  " is not compact; give every coordinate an index of its own, without gaps");
}

void check_bytes(int access_bytes, int element_bytes) {
  const auto is_width = [](int bytes) {
    return std::ranges::count(std::array{1, 2, 4, 8, 16}, bytes) != 0;
  };
  if (is_width(access_bytes) && is_width(element_bytes) && element_bytes <= access_bytes) return;
  throw Error(ErrorCode::invalid_argument,
              "an access takes 1, 2, 4, 8 or 16 bytes of such elements that it holds, found " +
                  std::to_string(access_bytes) + " bytes of elements of " +
                  std::to_string(element_bytes));
}

/// A warp's accesses to shared memory.
class Warp {
 public:
  Warp(const Layout& tv, const ComposedLayout& shared, int access_bytes, int element_bytes)
      : threads_(mode(tv, 0)), values_(mode(tv, 1)), shared_(shared), bytes_(element_bytes) {
    width_ = access_bytes / element_bytes;
    lanes_ = std::min(kWarp, known_size(threads_));
    tile_ = known_size(shared.layout());
    group_ = kWarp * kWordBytes / std::max<std::int64_t>(kWordBytes, access_bytes);
    if (const std::int64_t values = known_size(values_); values > kMostValues) {
      throw Error(ErrorCode::unsupported,
                  "bank_conflicts: at most 4096 values a thread, found " + std::to_string(values));
    } else if (values % width_ != 0) {
      refuse("does not have values for whole accesses");
    }
  }

  [[nodiscard]] BankConflicts conflicts() const {
    BankConflicts result;
    for (std::int64_t value = 0; value < known_size(values_); value += width_) {
      for (std::int64_t lane = 0; lane < lanes_; lane += group_) {
        result.wavefronts += passes(lane, value);
        ++result.ideal_wavefronts;
      }
    }
    return result;
  }

 private:
  static std::int64_t known_size(const Layout& layout) {
    const Dim extent = size(layout);
    if (extent.is_known() && !extent.is(0)) return extent.value();
    throw Error(ErrorCode::unsupported, "bank_conflicts needs known extents of at least 1, found " +
                                            core::shortened(to_string(layout)));
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::invalid_layout, "bank_conflicts: (" +
                                               core::shortened(to_string(threads_)) + ", " +
                                               core::shortened(to_string(values_)) + ") " + why +
                                               " in " + core::shortened(to_string(shared_)));
  }

  /// The element that `lane` holds as its value `value`.
  [[nodiscard]] std::int64_t element(std::int64_t lane, std::int64_t value) const {
    const std::int64_t in_tile = layout::checked_add(threads_(lane), values_(value));
    if (in_tile >= tile_) refuse("leaves the tile");
    return shared_(in_tile);
  }

  /// The first byte of an access.
  [[nodiscard]] std::int64_t address(std::int64_t lane, std::int64_t value) const {
    const std::int64_t first = element(lane, value);
    bool is_vector = first % width_ == 0;
    for (std::int64_t i = 1; is_vector && i < width_; ++i) {
      is_vector = element(lane, value + i) == first + i;
    }
    if (!is_vector) refuse("has accesses that are not consecutive, aligned elements");
    return layout::checked_multiply(first, bytes_);
  }

  /// The passes that the group of lanes from `first_lane` on needs.
  [[nodiscard]] std::int64_t passes(std::int64_t first_lane, std::int64_t value) const {
    std::vector<std::int64_t> words;
    for (std::int64_t lane = first_lane; lane < std::min(first_lane + group_, lanes_); ++lane) {
      const std::int64_t begin = address(lane, value);
      const std::int64_t end = layout::checked_add(begin, width_ * bytes_);
      for (std::int64_t byte = begin; byte < end; byte += kWordBytes) {
        words.push_back(byte / kWordBytes);
      }
    }
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::array<std::int64_t, kBanks> in_bank{};
    for (const std::int64_t word : words) ++in_bank[static_cast<std::size_t>(word % kBanks)];
    return std::ranges::max(in_bank);
  }

  Layout threads_, values_;
  const ComposedLayout& shared_;
  std::int64_t bytes_, width_, lanes_, group_, tile_;
};

}  // namespace

LayoutTV make_layout_tv(const Layout& thr, const Layout& val) {
  check_compact("thread", thr);
  check_compact("value", val);
  const Layout mn = raked_product(thr, val);
  IntTuple tiler = IntTuple::empty_tuple();
  for (std::size_t i = 0; i < rank(mn); ++i) tiler.append(size(mode(mn, i)));
  const Layout pairs = column_major({size(thr), size(val)});
  return {mn, tiler, composition(right_inverse(mn), pairs)};
}

BankConflicts bank_conflicts(const Layout& tv, const ComposedLayout& shared, int access_bytes,
                             int element_bytes) {
  check_bytes(access_bytes, element_bytes);
  if (rank(tv) != 2) {
    throw Error(
        ErrorCode::invalid_layout,
        "bank_conflicts: the modes are thread and value, found " + core::shortened(to_string(tv)));
  }
  return Warp(tv, shared, access_bytes, element_bytes).conflicts();
}

}  // namespace tilejit
