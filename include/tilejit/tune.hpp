#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/cache/entry.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/target.hpp"

namespace tilejit {

/// What operations have in common if their plans differ only in sizes, within a power of two: the
/// template, the formula's structure without its constants, dtypes, how each operand is reached,
/// and the extents as powers of two. Text; the knobs that `op` pins do not matter. Throws what
/// `validate` throws.
[[nodiscard]] std::string operation_class(const Operation& op, const Target& target);

/// Knobs to try: first none, which is the plan's own choice; then those that change one knob of
/// that plan, then two, and so on; each a plan of its own, and at most `budget` beside the first.
/// Knobs that `op` pins stay. Deterministic. Throws what `validate` throws.
[[nodiscard]] std::vector<Tuning> tuning_candidates(const Operation& op, const Target& target,
                                                    std::size_t budget = 24);

/// The outcome of one candidate.
struct Trial {
  Tuning tuning = {};
  double milliseconds = 0;   ///< of a launch; 0 if it failed
  std::string failure = {};  ///< why it is out: it does not compile, or gives a wrong result
};

/// Milliseconds of a launch of an operation whose result was verified. Throws Error if there are
/// none.
using Measure = std::function<double(const Operation&)>;
/// Called after each trial.
using Progress = std::function<void(const Trial&)>;

/// Measures `op` with each of `candidates` in turn. An Error of `measure` takes a candidate out,
/// except the first, whose Error is rethrown: without it there is nothing to compare with.
[[nodiscard]] std::vector<Trial> run_trials(const Operation& op,
                                            const std::vector<Tuning>& candidates,
                                            const Measure& measure, const Progress& progress = {});

/// The number of the fastest trial; 0, the plan's own choice, unless another one takes at least 1 %
/// less time. Throws Error{invalid_argument} for no trials.
[[nodiscard]] std::size_t best_trial(const std::vector<Trial>& trials);

/// The best knobs of one class of operations on one device.
struct TunedEntry {
  std::string operation_class = {};
  Target target = {};
  std::string device = {};  ///< name, as the driver gives it
  Tuning tuning = {};       ///< empty: the plan's own choice was the best
  double milliseconds = 0;
  double default_milliseconds = 0;  ///< of the plan's own choice
  std::string name = {};            ///< of the operation that was measured
  bool operator==(const TunedEntry&) const = default;
};

/// A tuning file: JSON lines, one entry each (docs/tuning.md, "Tuning files"). A value; const
/// member functions are thread-safe.
class TuningFile {
 public:
  TuningFile() = default;
  /// Throws Error{invalid_argument} that names `name` and the line, if a line is not an entry.
  [[nodiscard]] static TuningFile parse(std::string_view text, const std::string& name);
  /// Reads a file; one that does not exist is empty. Throws as `parse`, and Error{io} if it cannot
  /// be read, is no regular file, exceeds 64 MiB, or, with cache::Trust::own, if it or its folder
  /// belongs to another user or others may write to it.
  [[nodiscard]] static TuningFile load(const std::filesystem::path& path,
                                       cache::Trust trust = cache::Trust::own);

  /// The entry of that class and target for `device`; if there is none, that of the device whose
  /// name comes first, since kernels of one target are much alike. Null if there is none at all.
  [[nodiscard]] const TunedEntry* find(std::string_view operation_class, const Target& target,
                                       std::string_view device) const;
  /// Names of the devices that have entries of `target`, each once, in their order.
  [[nodiscard]] std::vector<std::string> devices(const Target& target) const;
  /// Adds an entry, or replaces that of the same class, target and device.
  void add(TunedEntry entry);
  /// Adds every entry of `other`.
  void merge(const TuningFile& other);
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::vector<TunedEntry> entries() const;

  /// Sorted lines; parse(to_string()) is equal.
  [[nodiscard]] std::string to_string() const;
  /// Replaces the file as a whole (temporary file, fsync, rename). Throws Error{io} if it cannot be
  /// written.
  void publish(const std::filesystem::path& path) const;

  bool operator==(const TuningFile&) const = default;

 private:
  std::map<std::string, TunedEntry, std::less<>> entries_;  // by class, target and device
};

}  // namespace tilejit
