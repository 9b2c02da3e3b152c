#include "common/spec_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/suggestion.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

constexpr std::uintmax_t kLargestSpec = 64u << 20;  // bytes; many times a formula of 1 MB

std::vector<std::string> kernel_names(const std::vector<Operation>& ops) {
  std::vector<std::string> names;
  for (const Operation& op : ops) names.push_back(op.name());
  return names;
}

}  // namespace

SpecOptions spec_options(const std::string& path, bool allow_source) {
  return {
      .allow_source = allow_source || options_from_env(false).allow_source,
      .folder = path == "-" ? std::filesystem::path() : std::filesystem::path(path).parent_path()};
}

std::vector<Operation> load_specs(const std::string& path, bool allow_source) {
  const std::string text = read_file(path, kLargestSpec);
  const std::string name = path == "-" ? "standard input" : path;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw UsageError(name + " is empty; examples/specs/ has specs to start from");
  }
  try {
    return parse_specs(text, nullptr, spec_options(path, allow_source));
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
}

std::vector<Operation> select_kernels(std::vector<Operation> ops, const std::string& kernel) {
  if (kernel.empty()) return ops;
  const auto found = std::ranges::find(ops, kernel, &Operation::name);
  if (found == ops.end()) {
    throw UsageError(fmt::format("no kernel is named '{}'{}", kernel,
                                 suggestion_or_list(kernel, kernel_names(ops), "the spec has")));
  }
  return {*found};
}

Operation only_kernel(std::vector<Operation> ops) {
  if (ops.size() != 1) {
    throw UsageError(fmt::format("the spec has {} kernels; choose one with --kernel: {}",
                                 ops.size(), fmt::join(kernel_names(ops), ", ")));
  }
  return std::move(ops.front());
}

std::string_view to_string(Access access) noexcept {
  switch (access) {
    case Access::in: return "in";
    case Access::out: return "out";
    case Access::inout: return "inout";
    case Access::automatic: break;
  }
  return "automatic";
}

std::vector<std::string> symbols_of(const Operation& op) {
  std::set<std::string> names;
  for (const Tensor& tensor : op.tensors()) {
    for (const Mode& mode : tensor.layout.leaves()) {
      names.insert(mode.extent.symbols().begin(), mode.extent.symbols().end());
      names.insert(mode.stride.symbols().begin(), mode.stride.symbols().end());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace tilejit::cli
