// Any bytes as a descriptor with a sweep: faults and no descriptors, or as many descriptors as the
// product of the values, each without the sweep and with a unique name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "spec/sweep.hpp"
#include "tilejit/error.hpp"

namespace {

using namespace tilejit::spec;

constexpr std::size_t kMost = 512;

void require(bool fact) {
  if (!fact) std::abort();
}

std::size_t product(const Json& sweep) {
  std::size_t count = 1;
  for (const Json& values : sweep) count *= values.size();
  return count;
}

void expand(const Json& json) {
  Problems problems;
  std::set<std::string> choices, names;
  std::size_t seen = 0;
  const bool swept = json.is_object() && json.contains("sweep");
  const bool named = swept && (!json.contains("name") || json["name"].is_string());
  const std::size_t count = each_of_sweep(
      json, "", kMost, problems, [&](const Json& descriptor, const std::string& choice) {
        ++seen;
        if (!swept) return require(descriptor == json);
        require(!descriptor.contains("sweep"));
        require(choices.insert(choice).second);
        if (named) require(names.insert(descriptor["name"].get<std::string>()).second);
      });
  require(seen == count && count <= kMost);
  require(problems.empty() ? count >= 1 : count == 0);
  if (count > 0 && swept) require(count == product(json["sweep"]));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    expand(parse_json({reinterpret_cast<const char*>(data), size}));
  } catch (const tilejit::Error&) {
    // Not JSON, like most inputs.
  }
  return 0;
}
