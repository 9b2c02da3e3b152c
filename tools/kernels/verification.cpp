#include "kernels/verification.hpp"

#include <algorithm>
#include <cstdint>

#include "common/files.hpp"
#include "kernels/bindings.hpp"
#include "kernels/device_problem.hpp"
#include "kernels/npy.hpp"

namespace tilejit::cli {
namespace {

constexpr std::uintmax_t kLargestExpected = std::uintmax_t{1} << 40;  // bytes

/// The expected contents of every written tensor, in order.
std::vector<HostTensor> read_arrays(const Problem& problem, const ExpectedResults& expected) {
  std::vector<HostTensor> results;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    if (problem.access[i] == Access::in) continue;
    const Tensor& tensor = problem.op.tensors()[i];
    const auto file = std::ranges::find(expected.files, tensor.name,
                                        &std::pair<std::string, std::filesystem::path>::first);
    const std::string path = file->second.string();
    const NpyArray array = parse_npy(read_file(path, kLargestExpected), path);
    check_array(array, tensor, problem.layouts[i]);
    HostTensor& result = results.emplace_back(problem.tensors[i].size_bytes());
    scatter(array, tensor, problem.layouts[i], result.data());
  }
  return results;
}

std::vector<HostTensor> run_other(Runtime& runtime, const Problem& problem,
                                  const Operation& other) {
  const Kernel kernel = runtime.compile(other);
  runtime.make_current();
  const DeviceArguments device = upload(runtime, problem);
  kernel.launch(nullptr, device.arguments, problem.symbols);
  return download(problem, device);
}

/// One pointer per tensor; null for those that are only read.
std::vector<const void*> by_tensor(const Problem& problem, const std::vector<HostTensor>& written) {
  std::vector<const void*> all;
  auto next = written.begin();
  for (const Access access : problem.access) {
    all.push_back(access == Access::in ? nullptr : (next++)->data());
  }
  return all;
}

}  // namespace

std::optional<Verification> verify_results(Runtime& runtime, const Problem& problem,
                                           const std::vector<HostTensor>& results) {
  if (has_reference(problem.op)) return check(runtime, problem, results);
  const std::optional<ExpectedResults> expected = expected_results(problem.op);
  if (!expected) return std::nullopt;
  const std::vector<HostTensor> wanted =
      expected->by ? run_other(runtime, problem, *expected->by) : read_arrays(problem, *expected);
  return compare(problem.op, problem.symbols, by_tensor(problem, wanted),
                 by_tensor(problem, results), *expected);
}

}  // namespace tilejit::cli
