#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilejit/compiler.hpp"
#include "tilejit/error.hpp"

namespace CLI {
class App;
}

namespace tilejit::cli {

/// A kernel for one target.
struct WarmJob {
  std::size_t op = 0;  ///< into WarmList::ops
  Target target;
  std::string device = {};  ///< whose knobs of the tuning file it has; empty: the first one's
  Location location = {};
};

/// What spec files and manifests ask for.
struct WarmList {
  std::vector<Operation> ops;
  std::vector<WarmJob> jobs;
  std::vector<std::string> faults;  ///< lines of manifests that could not be read

  [[nodiscard]] const Operation& op_of(const WarmJob& job) const { return ops[job.op]; }
};

/// "softmax for sm_90a", "softmax for sm_90a, NVIDIA H200"
[[nodiscard]] std::string name_of(const WarmList& list, const WarmJob& job);

/// --target: the targets that `read_warm_list` takes each descriptor for.
void add_targets_option(CLI::App& command, std::vector<std::string>& targets);

/// Part `number` of `count`, 1 <= number <= count.
struct Shard {
  std::size_t number = 1, count = 1;
};
/// "2/8". Throws UsageError.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// Reads spec files and manifests, "-" for standard input; of folders every .json and .jsonl below
/// them. Each descriptor is taken for every one of `targets`; where these are empty, for the target
/// that its manifest names, or for the default one. Throws UsageError for a file that cannot be
/// read, and what `parse_specs` throws, with the path in front; descriptors that are wrong are
/// among the faults.
[[nodiscard]] WarmList read_warm_list(const std::vector<std::string>& paths,
                                      const std::vector<Target>& targets);

/// --device: the devices that `take_devices` takes each job for.
void add_devices_option(CLI::App& command, std::vector<std::string>& devices);
/// Takes each job for every one of `devices`; where these are empty, for every device of its target
/// that the tuning file knows, if they are several: the Runtime of each looks for its own kernel.
/// Throws UsageError for a name that the tuning file does not have.
void take_devices(const Compiler& compiler, WarmList& list,
                  const std::vector<std::string>& devices);

/// Plans every job, `threads` at a time, and asks the cache where it is. What cannot be planned is
/// told through `failures`, by job.
struct PlanFailure {
  WarmJob job;
  ErrorCode code = ErrorCode::invalid_spec;
  std::string error;
};
[[nodiscard]] std::vector<PlanFailure> locate_all(const Compiler& compiler, WarmList& list,
                                                  int threads);

/// Leaves each key once, in the order of the list, and of these every `shard.count`-th: the shards
/// of one list share nothing and leave nothing out.
void keep_distinct(WarmList& list, const Shard& shard);

}  // namespace tilejit::cli
