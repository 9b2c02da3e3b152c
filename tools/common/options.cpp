#include "common/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "common/suggestion.hpp"

namespace tilejit::cli {
namespace {

template <typename T>
bool is_number_within(const std::string& text, T least, T most) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && next == end && value >= least && value <= most;
}

void add_assignments(CLI::App& command, const char* name, std::vector<std::string>& list,
                     const char* description) {
  command.add_option(name, list, description)->delimiter(',')->allow_extra_args(false);
}

}  // namespace

void add_spec(CLI::App& command, std::string& path) {
  command.add_option("SPEC", path, "Spec file, - for standard input")
      ->type_name("FILE")
      ->required();
}

void add_kernel(CLI::App& command, std::string& name) {
  command.add_option("--kernel", name, "Only the kernel of this name")->type_name("NAME");
}

void add_dims(CLI::App& command, std::vector<std::string>& dims) {
  add_assignments(command, "--dims", dims, "Values of symbols; else the spec's examples");
  command.get_option("--dims")->type_name("M=4096,N=8");
}

void add_scalars(CLI::App& command, std::vector<std::string>& scalars) {
  add_assignments(command, "--scalars", scalars, "Values of scalars; else the spec's examples");
  command.get_option("--scalars")->type_name("alpha=0.5");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "Of random inputs")
      ->type_name("N")
      ->check(whole(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
}

void add_device(CLI::App& command, int& device) {
  command.add_option("--device", device, "A device's number; default: that of TILEJIT_DEVICE")
      ->type_name("N")
      ->check(whole(0, 1023));
}

void add_target(CLI::App& command, std::string& target) {
  command.add_option("--target", target, "sm_75 to sm_120a; default: the device's, else sm_90a")
      ->type_name("TARGET");
}

void add_jobs(CLI::App& command, int& jobs) {
  command.add_option("-j,--jobs", jobs, "Compiles at a time; default: one a core")
      ->type_name("N")
      ->check(whole(1, 256));
}

void add_no_tuning(CLI::App& command, bool& no_tuning) {
  command.add_flag("--no-tuning", no_tuning, "Leave the tuning file alone");
}

void add_allow_source(CLI::App& command, bool& allow_source) {
  command.add_flag("--allow-source", allow_source,
                   "Compile CUDA source that the spec brings; only for specs that you trust");
}

void add_json(CLI::App& command, bool& json, const std::string& schema) {
  const std::string described =
      schema.empty() ? "" : "; tilejit schema " + schema + " describes it";
  command.add_flag("--json", json, "One JSON document on standard output" + described);
}

CLI::Validator whole(std::int64_t least, std::int64_t most) {
  const auto fault = [=](const std::string& text) {
    if (is_number_within(text, least, most)) return std::string();
    const bool endless = most == std::numeric_limits<std::int64_t>::max();
    return fmt::format("'{}' is not a whole number from {} to {}", text, least,
                       endless ? "2^63-1" : std::to_string(most));
  };
  return {fault, ""};
}

CLI::Validator between(double least, double most) {
  const auto fault = [=](const std::string& text) {
    if (is_number_within(text, least, most)) return std::string();
    return fmt::format("'{}' is not a number from {} to {}", text, least, most);
  };
  return {fault, ""};
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto fault = [words](const std::string& text) {
    if (std::ranges::count(words, text) > 0) return std::string();
    const std::string nearest = suggestion(text, words);
    return fmt::format("'{}' is not one of {}{}", text, fmt::join(words, ", "), nearest);
  };
  return {fault, ""};
}

}  // namespace tilejit::cli
