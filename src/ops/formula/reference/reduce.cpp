#include <algorithm>
#include <bit>
#include <optional>

#include "reference/block.hpp"
#include "reference/execute.hpp"
#include "reference/results.hpp"

namespace tilejit::reference {
namespace {

using expr::NodeId;

/// One thread's share of a result whose other values belong to neighbouring threads.
struct Piece {
  std::int64_t result = 0;
  Accumulator part;
  bool begins = false;  // holds the first value
  bool ends = false;    // holds the last value
};

/// Combines one range of a pass. Results inside it are written; the first and the last may be
/// pieces.
class RangeReducer {
 public:
  RangeReducer(const Problem& problem, const Pass& pass, Results& results, WithBounds with_bounds)
      : problem_(problem),
        pass_(pass),
        results_(results),
        block_(problem, pass, results, with_bounds) {
    for (const NodeId id : pass.reductions) {
      current_.push_back(fresh(problem, id));
      pieces_.emplace_back().reserve(2);
    }
  }

  void run(const Range& range) {
    const auto step = static_cast<std::int64_t>(block_.capacity());
    for (std::int64_t first = range.first; first < range.last; first += step) {
      const std::int64_t count = std::min(step, range.last - first);
      block_.run(first, static_cast<std::size_t>(count));
      for (std::size_t k = 0; k < current_.size(); ++k) combine(k, first, count, range);
    }
  }

  /// The pieces of the k-th reduction of the pass, in order: none, one or two.
  [[nodiscard]] const std::vector<Piece>& pieces(std::size_t k) const { return pieces_[k]; }

 private:
  void combine(std::size_t k, std::int64_t first, std::int64_t count, const Range& range) {
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t index = (first + done) / pass_.run, place = (first + done) % pass_.run;
      const std::int64_t length = std::min(pass_.run - place, count - done);
      if (place == 0) current_[k] = fresh(problem_, pass_.reductions[k]);
      Values values =
          block_.values(problem_.program.nodes[pass_.reductions[k]].args[0], done, length);
      values.place = place;
      current_[k].add(values);
      done += length;
      const bool ends = place + length == pass_.run;
      if (ends || first + done == range.last) finish(k, index, ends, range);
    }
  }

  void finish(std::size_t k, std::int64_t index, bool ends, const Range& range) {
    const bool begins = index * pass_.run >= range.first;
    if (begins && ends) {
      write(results_[pass_.reductions[k]], index, current_[k].result());
    } else {
      pieces_[k].push_back({index, current_[k], begins, ends});
    }
  }

  const Problem& problem_;
  const Pass& pass_;
  Results& results_;
  Block block_;
  std::vector<Accumulator> current_;        // one per reduction
  std::vector<std::vector<Piece>> pieces_;  // one per reduction
};

void join_pieces(const Pass& pass, const std::vector<RangeReducer>& reducers, Results& results) {
  for (std::size_t k = 0; k < pass.reductions.size(); ++k) {
    std::optional<Accumulator> open;
    for (const RangeReducer& reducer : reducers) {
      for (const Piece& piece : reducer.pieces(k)) {
        if (piece.begins) {
          open = piece.part;
        } else {
          open->merge(piece.part);
        }
        if (piece.ends) write(results[pass.reductions[k]], piece.result, open->result());
      }
    }
  }
}

}  // namespace

void reduce(const Problem& problem, const Pass& pass, Results& results, WithBounds with_bounds) {
  for (const NodeId id : pass.reductions) {
    const auto reduced = static_cast<std::size_t>(std::popcount(problem.program.nodes[id].axes));
    const auto kept = std::span(pass.axes).first(pass.axes.size() - reduced);
    results[id] = make_result(problem, kept, id, with_bounds);
  }
  const std::vector<Range> ranges = split(size(pass));
  std::vector<RangeReducer> reducers;
  reducers.reserve(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    reducers.emplace_back(problem, pass, results, with_bounds);
  }
  run_parallel(ranges.size(), [&](std::size_t i) { reducers[i].run(ranges[i]); });
  join_pieces(pass, reducers, results);
}

}  // namespace tilejit::reference
