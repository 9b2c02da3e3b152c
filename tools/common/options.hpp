#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace tilejit::cli {

// Options that several commands have: one name, one kind of value, one sentence. Options that take
// a list take one value each, so that they never swallow a SPEC behind them.

void add_spec(CLI::App& command, std::string& path);
/// Of one kernel of the spec.
void add_kernel(CLI::App& command, std::string& name);
void add_dims(CLI::App& command, std::vector<std::string>& dims);
void add_scalars(CLI::App& command, std::vector<std::string>& scalars);
void add_seed(CLI::App& command, std::uint64_t& seed);
/// -1, unless given, is the device of TILEJIT_DEVICE.
void add_device(CLI::App& command, int& device);
void add_target(CLI::App& command, std::string& target);
void add_jobs(CLI::App& command, int& jobs);
void add_no_tuning(CLI::App& command, bool& no_tuning);
/// `schema` is what `tilejit schema` calls the document; empty: it has none.
void add_json(CLI::App& command, bool& json, const std::string& schema = "");

/// Of values; a fault is a sentence that names the value and what would be right.
[[nodiscard]] CLI::Validator whole(std::int64_t least, std::int64_t most);
[[nodiscard]] CLI::Validator between(double least, double most);
[[nodiscard]] CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace tilejit::cli
