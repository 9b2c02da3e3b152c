#include "launch/assertions.hpp"

#include <algorithm>
#include <atomic>
#include <string>

namespace tilejit::launch {
namespace {

/// `word`: as tile/assertion.cuh makes it.
std::string failure_text(const operation::Assertion& assertion, std::uint64_t word) {
  const auto number = [&](int low_bit, std::uint64_t mask) {
    return std::to_string(word >> low_bit & mask);
  };
  return assertion.place + ": the assertion does not hold in block (" + number(32, 0x7FFFFFFF) +
         ", " + number(16, 0xFFFF) + ", " + number(0, 0xFFFF) + ")" +
         (assertion.message.empty() ? std::string() : ": " + assertion.message);
}

/// Writes the address of the words to the global. A new stream waits for no other and is not part
/// of a capture.
void point_to(const driver::Context& context, CUlibrary library, const std::string& global,
              const std::uint64_t* words) {
  const driver::Table& driver = context.driver();
  CUdeviceptr place = 0;
  std::size_t bytes = 0;
  driver::check(driver, driver.cuLibraryGetGlobal_(&place, &bytes, library, global.c_str()),
                "cuLibraryGetGlobal");
  const driver::UniqueStream stream = driver::make_stream(context, CU_STREAM_NON_BLOCKING);
  // With unified addressing page-locked memory has the same address on the device.
  driver::check(driver, driver.cuMemcpyHtoDAsync_(place, &words, sizeof words, stream.get()),
                "cuMemcpyHtoDAsync");
  driver::check(driver, driver.cuStreamSynchronize_(stream.get()), "cuStreamSynchronize");
}

}  // namespace

Assertions::Words::Words(std::shared_ptr<const driver::Context> context, std::size_t count)
    : context_(std::move(context)), count_(count) {
  const driver::Table& driver = context_->driver();
  void* memory = nullptr;
  driver::check(driver,
                driver.cuMemHostAlloc_(&memory, count * sizeof(std::uint64_t),
                                       CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                "cuMemHostAlloc");
  first_ = static_cast<std::uint64_t*>(memory);
  std::ranges::fill(all(), 0);
}

Assertions::Words::~Words() {
  if (!context_->is_alive()) return;
  const driver::QuietContextScope scope(*context_);
  context_->driver().cuMemFreeHost_(first_);
}

Assertions::Assertions(std::shared_ptr<const driver::Context> context, CUlibrary library,
                       const operation::LaunchPlan& plan)
    : words_(std::move(context), plan.assertions.size()), assertions_(plan.assertions) {
  point_to(words_.context(), library, plan.assertion_words, words_.all().data());
  words_.context().reports().add(*this);
}

Assertions::~Assertions() {
  words_.context().reports().remove(*this);
}

std::string Assertions::take() {
  std::string text;
  for (std::size_t i = 0; i < assertions_.size(); ++i) {
    std::atomic_ref<std::uint64_t> word(words_.all()[i]);
    if (word.load(std::memory_order_relaxed) == 0) continue;
    if (!text.empty()) text += '\n';
    text += failure_text(assertions_[i], word.exchange(0, std::memory_order_relaxed));
  }
  return text;
}

}  // namespace tilejit::launch
