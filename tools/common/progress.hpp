#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <thread>

namespace tilejit::cli {

/// The progress of a long piece of work.
struct ProgressState {
  std::size_t done = 0, failed = 0, total = 0;
  std::string now;  ///< what is being worked on
};

/// Shows progress on standard error: a bar that is redrawn if that is a terminal, else a line every
/// few seconds.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `quiet`: nothing is shown.
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Draws if enough time has passed since the last drawing.
  void show(const ProgressState& state);
  /// Prints a line of its own, above the bar.
  void say(const std::string& line);
  /// Removes the bar.
  void end();

 private:
  bool quiet_, terminal_;
  bool drawn_ = false;
  Clock::time_point start_, last_;
};

/// While this lives, it shows what is being waited for, and for how long: as Progress does, but at
/// once on a terminal.
class Waiting {
 public:
  explicit Waiting(std::string what);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void run(const std::stop_token& stop) const;
  std::string what_;
  std::jthread thread_;
};

/// "[#####---------------] 50/200, 12.3 a second, 12 s left, 1 failed: softmax for sm_90a" in at
/// most `width` columns. If `width` is 0, the bar is left out.
[[nodiscard]] std::string progress_text(const ProgressState& state, double seconds,
                                        std::size_t width);

/// "0.4 s", "12 s", "3 min 20 s", "2 h 5 min"
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace tilejit::cli
