#include "front/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <memory>

#include "tilejit/printable.hpp"

namespace tilejit::front {
namespace {

constexpr const char* kLoggerName = "tilejit";

// Not registered, so that the application can still register its own under this name.
spdlog::logger& default_logger() {
  static spdlog::logger logger(kLoggerName,
                               std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  return logger;
}

}  // namespace

void warn(const std::string& message) noexcept {
  try {
    const std::string shown = printable(message);
    if (const auto registered = spdlog::get(kLoggerName)) {
      registered->warn("{}", shown);
    } else {
      default_logger().warn("{}", shown);
    }
  } catch (const std::exception&) {
    // If a warning cannot be written, the call that it is about must not fail.
  }
}

}  // namespace tilejit::front
