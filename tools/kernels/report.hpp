#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "kernels/execute.hpp"
#include "kernels/problem.hpp"

namespace tilejit::cli {

/// The artifact's key, target, tier, sizes and milliseconds of each step; and the registers and
/// spills that its metadata reports.
[[nodiscard]] nlohmann::ordered_json artifact_json(const Artifact& artifact);
/// Two lines: which tier answered, and how many milliseconds each step took, if it was needed.
[[nodiscard]] std::string artifact_text(const Artifact& artifact);

/// One kernel's entry of `tilejit run --json`.
[[nodiscard]] nlohmann::ordered_json run_json(const Problem& problem, const Outcome& outcome,
                                              const Executor& executor);
/// The text that `tilejit run` prints for one kernel: its name and tensors before it runs, then the
/// results.
[[nodiscard]] std::string run_heading(const Problem& problem);
[[nodiscard]] std::string run_text(const Problem& problem, const Outcome& outcome,
                                   const Executor& executor);

/// The object "tuning" of a spec.
[[nodiscard]] nlohmann::ordered_json tuning_json(const Tuning& tuning);

/// A document as it is printed: indented. Replacement characters stand for bytes that are not
/// UTF-8, such as those in names of folders.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& document);

/// "6.2 KB", "0.40 GB": decimal units, as bandwidths are quoted.
[[nodiscard]] std::string bytes_text(double bytes);

/// Prints to standard output and flushes it.
void say(const std::string& text);

}  // namespace tilejit::cli
