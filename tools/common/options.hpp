#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace tilejit::cli {

// Options that several commands share: one name, one kind of value, one sentence. An option that
// takes a list takes one value each time, so that it never swallows a SPEC after it.

void add_spec(CLI::App& command, std::string& path);
/// The name of one kernel of the spec.
void add_kernel(CLI::App& command, std::string& name);
void add_dims(CLI::App& command, std::vector<std::string>& dims);
void add_scalars(CLI::App& command, std::vector<std::string>& scalars);
void add_seed(CLI::App& command, std::uint64_t& seed);
/// `device` stays -1 unless the option is given: the device of TILEJIT_DEVICE.
void add_device(CLI::App& command, int& device);
void add_target(CLI::App& command, std::string& target);
void add_jobs(CLI::App& command, int& jobs);
void add_no_tuning(CLI::App& command, bool& no_tuning);
/// Whether specs may bring CUDA source.
void add_allow_source(CLI::App& command, bool& allow_source);
/// `schema` is the document's name in `tilejit schema`; empty if the document has no schema.
void add_json(CLI::App& command, bool& json, const std::string& schema = "");

/// Validators of values. Their complaint is a sentence that names the value and says what would be
/// right.
[[nodiscard]] CLI::Validator whole(std::int64_t least, std::int64_t most);
[[nodiscard]] CLI::Validator between(double least, double most);
[[nodiscard]] CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace tilejit::cli
