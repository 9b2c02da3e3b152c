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
  std::size_t op = 0;  ///< index into WarmList::ops
  Target target;
  std::string device = {};  ///< whose tuned knobs it has; empty: the first device's
  Location location = {};
};

/// The kernels that spec files and manifests ask for.
struct WarmList {
  std::vector<Operation> ops;
  std::vector<WarmJob> jobs;
  std::vector<std::string> faults;  ///< manifest lines that could not be read

  [[nodiscard]] const Operation& op_of(const WarmJob& job) const { return ops[job.op]; }
};

/// "softmax for sm_90a", "softmax for sm_90a, NVIDIA H200"
[[nodiscard]] std::string name_of(const WarmList& list, const WarmJob& job);

/// Adds --target: the targets that `read_warm_list` combines with each descriptor.
void add_targets_option(CLI::App& command, std::vector<std::string>& targets);

/// Part `number` of `count`, 1 <= number <= count.
struct Shard {
  std::size_t number = 1, count = 1;
};
/// Parses "2/8". Throws UsageError.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// Reads spec files and manifests, "-" for standard input; in folders, every .json and .jsonl file
/// at any depth. Each descriptor is combined with each of `targets`. If `targets` is empty, it gets
/// the target that its manifest names, or the default target. Throws UsageError for a file that
/// cannot be read, and whatever `parse_specs` throws, with the path in front. Wrong descriptors
/// become faults.
[[nodiscard]] WarmList read_warm_list(const std::vector<std::string>& paths,
                                      const std::vector<Target>& targets, bool allow_source);

/// Adds --device: the devices that `take_devices` combines with each job.
void add_devices_option(CLI::App& command, std::vector<std::string>& devices);
/// Combines each job with each of `devices`. If `devices` is empty and the tuning file knows
/// several devices of a job's target, the job gets each of these, because the Runtime of each
/// device looks for its own kernel. Throws UsageError for a name that the tuning file does not
/// have.
void take_devices(const Compiler& compiler, WarmList& list,
                  const std::vector<std::string>& devices);

/// Plans every job, on `threads` threads at once, and asks the cache where its kernel is. The
/// result lists, by job, what cannot be planned.
struct PlanFailure {
  WarmJob job;
  ErrorCode code = ErrorCode::invalid_spec;
  std::string error;
};
[[nodiscard]] std::vector<PlanFailure> locate_all(const Compiler& compiler, WarmList& list,
                                                  int threads);

/// Keeps each key once, in the order of the list, and of these every `shard.count`-th. The shards
/// of one list share nothing and together leave nothing out.
void keep_distinct(WarmList& list, const Shard& shard);

}  // namespace tilejit::cli
