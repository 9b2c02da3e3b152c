#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "reference/block.hpp"
#include "reference/execute.hpp"
#include "reference/judge.hpp"
#include "reference/keep.hpp"
#include "reference/row_sums.hpp"

namespace tilejit::reference {
namespace {

// The place of a mismatch and its report.
struct Mismatch {
  std::int64_t index = 0;
  int tensor = -1;
  std::string got, want;
  double allowed = 0;
};

// The shortest text that reads back to the same number.
std::string to_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string to_text(DType dtype, std::int64_t value) {
  return dtype == u64 ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value);
}

// The coordinate in the tensor itself: an output may lack axes.
std::vector<std::int64_t> own_coordinate(const Problem& problem, const Pass& pass,
                                         const Mismatch& mismatch) {
  const std::vector<std::int64_t> walked = coordinate(pass.shape, mismatch.index);
  std::vector<std::int64_t> own;
  for (const int axis : problem.tensors[mismatch.tensor].axes) {
    const auto at = std::ranges::find(pass.axes, axis);
    own.push_back(at == pass.axes.end() ? 0 : walked[at - pass.axes.begin()]);
  }
  if (own.empty()) own.push_back(0);
  return own;
}

std::string describe(const Problem& problem, const Pass& pass, const Mismatch& mismatch) {
  std::string text = problem.tensors[mismatch.tensor].name;
  char separator = '(';
  for (const std::int64_t c : own_coordinate(problem, pass, mismatch)) {
    text += separator + std::to_string(c);
    separator = ',';
  }
  text += "): got " + mismatch.got + ", want " + mismatch.want;
  return mismatch.allowed == 0 ? text : text + " +- " + to_text(mismatch.allowed);
}

/// Judges one range of a pass, block by block.
class RangeVerifier {
 public:
  RangeVerifier(const Problem& problem, const Pass& pass, const Results& results,
                std::span<const void* const> actual)
      : problem_(problem),
        pass_(pass),
        actual_(actual),
        sampled_(problem.product && problem.product->sampled),
        block_(problem, pass, results, WithBounds::yes) {}

  void run(const Range& range) {
    const auto step = static_cast<std::int64_t>(block_.capacity());
    for (std::int64_t first = range.first; first < range.last; first += step) {
      block_.run(first, static_cast<std::size_t>(std::min(step, range.last - first)));
      for (const expr::Store& store : pass_.stores) check(store, first);
    }
  }

  [[nodiscard]] const Verification& result() const noexcept { return result_; }
  [[nodiscard]] const std::optional<Mismatch>& first_mismatch() const noexcept { return first_; }

 private:
  void check(const expr::Store& store, std::int64_t first) {
    const DType dtype = problem_.tensors[store.tensor].dtype;
    const auto* base = static_cast<const std::byte*>(actual_[store.tensor]);
    const std::span<const std::int64_t> at = block_.offsets(store.tensor);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::byte* element = base + at[i] * size_bytes(dtype);
      if (sampled_ && std::isinf(block_.bounds(store.value)[i])) continue;
      ++result_.elements;
      const Judgement judgement = judge(store, dtype, element, i);
      result_.max_error = std::max(result_.max_error, judgement.error);
      result_.max_ratio = std::max(result_.max_ratio, judgement.ratio());
      if (judgement.passed) continue;
      ++result_.mismatches;
      const std::int64_t index = first + static_cast<std::int64_t>(i);
      if (!first_ || index < first_->index) {
        first_ = describe_element(store, dtype, element, i);
        first_->index = index;
        first_->allowed = judgement.allowed;
      }
    }
  }

  [[nodiscard]] Judgement judge(const expr::Store& store, DType dtype, const std::byte* element,
                                std::size_t i) const {
    const double bound = block_.bounds(store.value)[i];
    if (is_floating(dtype)) {
      return judge_real(dtype, decode(dtype, element), {block_.reals(store.value)[i], bound});
    }
    return judge_integer(dtype, stored_integer(dtype, element), block_.integers(store.value)[i],
                         bound);
  }

  // A bool is compared as its byte, since only 0 and 1 are well-formed.
  static std::int64_t stored_integer(DType dtype, const std::byte* element) noexcept {
    return load_integer(dtype == b8 ? u8 : dtype, element);
  }

  [[nodiscard]] Mismatch describe_element(const expr::Store& store, DType dtype,
                                          const std::byte* element, std::size_t i) const {
    if (is_floating(dtype)) {
      return {0, store.tensor, to_text(decode(dtype, element)),
              to_text(block_.reals(store.value)[i]), 0};
    }
    return {0, store.tensor, to_text(dtype, stored_integer(dtype, element)),
            to_text(dtype, block_.integers(store.value)[i]), 0};
  }

  const Problem& problem_;
  const Pass& pass_;
  std::span<const void* const> actual_;
  bool sampled_;
  Block block_;
  Verification result_;
  std::optional<Mismatch> first_;
};

void verify_pass(const Problem& problem, Pass pass, const Results& results,
                 std::span<const void* const> actual, Verification& total) {
  std::erase_if(pass.stores, [&](const expr::Store& store) {
    return actual[static_cast<std::size_t>(store.tensor)] == nullptr &&
           problem.tensors[static_cast<std::size_t>(store.tensor)].keeps != nullptr;
  });
  if (pass.stores.empty()) return;
  const std::vector<Range> ranges = split(size(pass));
  std::vector<RangeVerifier> verifiers;
  verifiers.reserve(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    verifiers.emplace_back(problem, pass, results, actual);
  }
  run_parallel(ranges.size(), [&](std::size_t i) { verifiers[i].run(ranges[i]); });
  for (const RangeVerifier& verifier : verifiers) {
    const Verification& part = verifier.result();
    total.elements += part.elements;
    total.mismatches += part.mismatches;
    total.max_error = std::max(total.max_error, part.max_error);
    total.max_ratio = std::max(total.max_ratio, part.max_ratio);
    if (total.first_mismatch.empty() && verifier.first_mismatch()) {
      total.first_mismatch = describe(problem, pass, *verifier.first_mismatch());
    }
  }
}

/// Of a product that was compared in part, the rest.
void verify_rows(const Problem& problem, std::span<const void* const> actual, Verification& total) {
  for (const expr::Store& store : problem.program.stores) {
    const void* const memory = actual[static_cast<std::size_t>(store.tensor)];
    if (memory == nullptr || store.value != problem.product->node) continue;
    const RowSums sums = compare_row_sums(problem, store, memory);
    total.mismatches += sums.mismatches;
    if (sums.mismatches == 0 || !total.first_mismatch.empty()) continue;
    total.first_mismatch = problem.tensors[static_cast<std::size_t>(store.tensor)].name + " row " +
                           std::to_string(sums.row) + ", its sum with random signs: got " +
                           to_text(sums.got) + ", want " + to_text(sums.want) + " +- " +
                           to_text(sums.allowed);
  }
}

bool is_in_memory(const Problem& problem) {
  return problem.tensors[0].kept == nullptr && problem.tensors[1].kept == nullptr;
}

}  // namespace

Verification verify(const Problem& problem, std::span<const void* const> actual) {
  const Schedule schedule = make_schedule(problem);
  const Results results = combine(problem, schedule, WithBounds::yes);
  keep(problem, schedule, results, WithBounds::yes);
  Verification total;
  for (const Pass& pass : schedule.stores) verify_pass(problem, pass, results, actual, total);
  if (problem.product && problem.product->sampled && is_in_memory(problem))
    verify_rows(problem, actual, total);
  total.passed = total.mismatches == 0;
  return total;
}

}  // namespace tilejit::reference
