#include "common/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

#include "common/terminal.hpp"

namespace tilejit::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLine = std::chrono::seconds(5);
constexpr std::size_t kBar = 20;

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string progress_text(const ProgressState& state, double seconds, std::size_t width) {
  std::string text;
  const std::size_t through = state.done + state.failed;
  if (width > 0) {
    const std::size_t filled = state.total == 0 ? kBar : kBar * through / state.total;
    text = '[' + std::string(filled, '#') + std::string(kBar - filled, '-') + "] ";
  }
  text += fmt::format("{}/{}", through, state.total);
  const double rate = seconds > 0 ? static_cast<double>(through) / seconds : 0;
  if (rate > 0) {
    text += fmt::format(", {:.1f} a second, {} left", rate,
                        duration_text(static_cast<double>(state.total - through) / rate));
  }
  if (state.failed > 0) text += fmt::format(", {} failed", state.failed);
  if (!state.now.empty()) text += ": " + state.now;
  if (width > 0 && text.size() > width) text = text.substr(0, width - 3) + "...";
  return text;
}

Progress::Progress(bool quiet)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_(terminal_ ? Clock::time_point() : start_) {}

Progress::~Progress() {
  end();
}

void Progress::show(const ProgressState& state) {
  const auto now = Clock::now();
  if (quiet_ || now - last_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLine))) {
    return;
  }
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (terminal_) {
    fmt::print(stderr, "\r{}\x1b[K", progress_text(state, seconds, terminal_width(stderr) - 1));
    drawn_ = true;
  } else {
    fmt::print(stderr, "{}\n", progress_text(state, seconds, 0));
  }
  std::fflush(stderr);
}

void Progress::say(const std::string& line) {
  end();
  if (!quiet_) fmt::print(stderr, "{}\n", line);
}

void Progress::end() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

Waiting::Waiting(std::string what)
    : what_(std::move(what)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Waiting::~Waiting() = default;  // stops the thread and waits for it

void Waiting::run(const std::stop_token& stop) const {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const auto start = Progress::Clock::now();
  std::mutex mutex;
  std::condition_variable_any wake;
  const auto draw = [&] {
    const std::chrono::duration<double> passed = Progress::Clock::now() - start;
    const std::string text = fmt::format("{}, {}", what_, duration_text(passed.count()));
    fmt::print(stderr, "{}{}{}", terminal ? "\r" : "", text, terminal ? "\x1b[K" : "\n");
    std::fflush(stderr);
  };
  if (terminal) draw();
  std::unique_lock lock(mutex);
  const auto period =
      terminal ? Progress::Clock::duration(kRedraw) : Progress::Clock::duration(kLine);
  while (!stop.stop_requested()) {
    wake.wait_for(lock, stop, period, [] { return false; });
    if (!stop.stop_requested()) draw();
  }
  if (terminal) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace tilejit::cli
