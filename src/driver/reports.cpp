#include "driver/reports.hpp"

#include "tilejit/error.hpp"

namespace tilejit::driver {

void Reports::add(Reporter& reporter) {
  const std::lock_guard lock(mutex_);
  reporters_.push_back(&reporter);
  any_.store(true, std::memory_order_relaxed);
}

void Reports::remove(Reporter& reporter) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(reporters_, &reporter);
  any_.store(!reporters_.empty(), std::memory_order_relaxed);
}

void Reports::raise_any() {
  std::string all;
  {
    const std::lock_guard lock(mutex_);
    for (Reporter* const reporter : reporters_) {
      const std::string text = reporter->take();
      if (!all.empty() && !text.empty()) all += '\n';
      all += text;
    }
  }
  if (!all.empty()) throw Error(ErrorCode::invalid_argument, all);
}

}  // namespace tilejit::driver
