#include "warm/warm_bundle.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "common/command.hpp"
#include "common/files.hpp"
#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cli {
namespace {

constexpr const char* kCompilers = "compilers";  // markers; a cache without NVRTC relies on them

}  // namespace

void write_bundle(Compiler& compiler, const WarmList& list, const std::string& path,
                  const std::string& private_key) {
  const std::string key = private_key.empty() ? "" : read_file(private_key, kLargestKey);
  cache::BundleWriter writer(path);
  for (const WarmJob& job : list.jobs) {
    const auto answer = compiler.cache().find(job.location.key);
    if (!answer) {
      throw Failure(
          fmt::format("{} is damaged or gone, so no bundle is written; run the command "
                      "again",
                      name_of(list, job)));
    }
    writer.add(job.location.key, *answer->entry);
  }
  for (const std::string& name : compiler.cache().markers(kCompilers)) {
    writer.add_marker(kCompilers, name);
  }
  try {
    writer.finish(key);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", private_key, error.what()));
  }
}

}  // namespace tilejit::cli
