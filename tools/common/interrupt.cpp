#include "common/interrupt.hpp"

#include <csignal>

namespace tilejit::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int signal) noexcept {
  if (noted != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  noted = signal;
}

void handle(void (*handler)(int)) noexcept {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, handler);
}

}  // namespace

InterruptScope::InterruptScope() {
  noted = 0;
  handle(note);
}

InterruptScope::~InterruptScope() {
  handle(SIG_DFL);
}

int InterruptScope::signal() noexcept {
  return noted;
}

}  // namespace tilejit::cli
