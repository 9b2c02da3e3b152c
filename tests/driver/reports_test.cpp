// What kernels note while they run, and who is told.
#include "driver/reports.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fake/expect_error.hpp"

namespace tilejit::driver {
namespace {

struct Noted final : Reporter {
  std::atomic<int> count = 0;
  std::string take() override {
    return std::string(static_cast<std::size_t>(count.exchange(0)), 'x');
  }
};

TEST(Reports, RaiseWhatAllHaveNotedOnce) {
  Reports reports;
  EXPECT_NO_THROW(reports.raise());
  Noted first, second, third;
  reports.add(first);
  reports.add(second);
  reports.add(third);
  EXPECT_NO_THROW(reports.raise());
  first.count = 1;
  third.count = 2;
  expect_error(ErrorCode::invalid_argument, "x\nxx", [&] { reports.raise(); });
  EXPECT_NO_THROW(reports.raise());
  first.count = 1;
  reports.remove(first);
  EXPECT_NO_THROW(reports.raise());
  reports.remove(second);
  reports.remove(third);
  third.count = 1;
  EXPECT_NO_THROW(reports.raise());
}

TEST(Reports, EachNoteIsRaisedInOneThread) {
  constexpr int kNotes = 2000;
  Reports reports;
  Noted noted;
  reports.add(noted);
  std::atomic<int> raised = 0;
  std::atomic<bool> ends = false;
  const auto ask = [&] {
    try {
      reports.raise();
    } catch (const Error& error) {
      raised += static_cast<int>(std::string(error.what()).size());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!ends) {
        Noted own;
        reports.add(own);
        ask();
        reports.remove(own);
      }
    });
  }
  for (int i = 0; i < kNotes; ++i) ++noted.count;
  ends = true;
  for (std::thread& thread : threads) thread.join();
  ask();
  EXPECT_EQ(raised, kNotes);
}

}  // namespace
}  // namespace tilejit::driver
