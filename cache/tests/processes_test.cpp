#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "process.hpp"
#include "temp_folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const Entry kEntry{"payload", "{}"};

/// Counts across processes: one byte per call, appended to a file.
class SharedCount {
 public:
  explicit SharedCount(const fs::path& path) : path_(path) { write_file(path, ""); }
  void add() const {
    const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    ASSERT_EQ(::write(file, "x", 1), 1);
    ::close(file);
  }
  [[nodiscard]] std::uintmax_t value() const { return fs::file_size(path_); }

 private:
  fs::path path_;
};

template <class Condition>
void wait_until(Condition condition) {
  const auto deadline = Clock::now() + 20s;
  while (!condition()) {
    ASSERT_LT(Clock::now(), deadline);
    std::this_thread::sleep_for(1ms);
  }
}

/// A process that holds the lock of a key, from the time its `make` runs until it is killed.
class Holder {
 public:
  explicit Holder(const fs::path& folder) {
    const SharedCount begun(folder.string() + ".begun");
    process_ = start_process([&] {
      Store store({.folder = folder});
      (void)store.find_or_make(test_key(1), [&] {
        begun.add();
        for (;;) ::pause();
        return kEntry;
      });
    });
    wait_until([&] { return begun.value() == 1; });
  }
  ~Holder() {
    if (process_ > 0) kill();
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void kill() {
    kill_process(process_);
    process_ = -1;
  }
  void stop() const { ASSERT_EQ(::kill(process_, SIGSTOP), 0); }

 private:
  pid_t process_ = -1;
};

TEST(Processes, SixtyFourRaceForFiftyKeysAndMakeEachOnce) {
  const TempFolder temp;
  const SharedCount makes(temp.path() / "makes");
  std::vector<pid_t> processes;
  for (unsigned process = 0; process < 64; ++process) {
    processes.push_back(start_process([&] {
      Store store({.folder = temp.path() / "cache"});
      std::vector<int> keys(50);
      std::iota(keys.begin(), keys.end(), 1);
      std::shuffle(keys.begin(), keys.end(), std::mt19937(process));
      for (const int key : keys) {
        const std::string payload = "payload of " + std::to_string(key);
        const Answer answer = store.find_or_make(test_key(key), [&] {
          makes.add();
          std::this_thread::sleep_for(3ms);
          return Entry{payload, "{}"};
        });
        EXPECT_EQ(answer.entry->payload, payload);
      }
      EXPECT_EQ(store.counters().disk.damaged + store.counters().disk.failures, 0u);
    }));
  }
  for (const pid_t process : processes) expect_success(process);
  EXPECT_EQ(makes.value(), 50u);
}

TEST(Processes, WaitForTheFirstOnesEntry) {
  const TempFolder temp;
  const SharedCount begun(temp.path() / "begun");
  const pid_t first = start_process([&] {
    Store store({.folder = temp.path() / "cache"});
    (void)store.find_or_make(test_key(1), [&] {
      begun.add();
      std::this_thread::sleep_for(150ms);
      return kEntry;
    });
  });
  wait_until([&] { return begun.value() == 1; });
  Store second({.folder = temp.path() / "cache"});
  const Answer answer =
      second.find_or_make(test_key(1), []() -> Entry { throw std::logic_error("made twice"); });
  EXPECT_EQ(answer.tier, Tier::disk);
  EXPECT_EQ(second.counters().lock_waits, 1u);
  EXPECT_EQ(second.counters().lock_timeouts, 0u);
  expect_success(first);
}

TEST(Processes, KilledHolderCostsNothing) {
  const TempFolder temp;
  Holder holder(temp.path() / "cache");
  Store store({.folder = temp.path() / "cache"});
  auto waiter = std::async(std::launch::async,
                           [&] { return store.find_or_make(test_key(1), [] { return kEntry; }); });
  EXPECT_EQ(waiter.wait_for(50ms), std::future_status::timeout);
  holder.kill();
  EXPECT_EQ(waiter.wait_for(5s), std::future_status::ready);
  EXPECT_EQ(waiter.get().tier, Tier::made);
  EXPECT_EQ(store.counters().lock_timeouts, 0u);
}

TEST(Processes, StoppedHolderCostsABoundedWait) {
  const TempFolder temp;
  const Holder holder(temp.path() / "cache");
  holder.stop();
  std::string warning;  // the wait itself is silent
  Store store({.folder = temp.path() / "cache",
               .lock_wait = 100ms,
               .warn = [&](const std::string& text) { warning += text; }});
  const auto start = Clock::now();
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  EXPECT_GE(Clock::now() - start, 100ms);
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_EQ(store.counters().lock_timeouts, 1u);
  EXPECT_NE(warning.find("for 100 ms"), std::string::npos) << warning;
  // What was made is available to everybody, even while the holder is stopped.
  EXPECT_EQ(Store(Options{.folder = temp.path() / "cache"}).find(test_key(1))->tier, Tier::disk);
}

TEST(Processes, OtherKeysAndFindDoNotWait) {
  const TempFolder temp;
  const Holder holder(temp.path() / "cache");
  Store store({.folder = temp.path() / "cache"});
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_EQ(store.find_or_make(test_key(2), [] { return kEntry; }).tier, Tier::made);
  EXPECT_EQ(store.counters().lock_waits, 0u);
}

TEST(Processes, WithoutLocksEntriesAreMadeTwice) {
  const TempFolder temp;
  const Holder holder(temp.path() / "cache");
  fs::remove_all(temp.path() / "cache/v1/lock");
  write_file(temp.path() / "cache/v1/lock", "no folder, so no lock");
  Store store({.folder = temp.path() / "cache"});
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  EXPECT_EQ(store.counters().lock_failures, 1u);
  EXPECT_EQ(store.counters().disk.failures, 0u);
}

// A child keeps its parent's open files, but not the parent's locks once these are released.
TEST(Processes, ChildForkedDuringAMakeHoldsNothingAfterIt) {
  const TempFolder temp;
  Store store({.folder = temp.path() / "cache"});
  pid_t child = -1;
  EXPECT_THROW((void)store.find_or_make(test_key(1),
                                        [&]() -> Entry {
                                          child = start_process([] { ::pause(); });
                                          throw std::runtime_error("refused");
                                        }),
               std::runtime_error);
  Store other({.folder = temp.path() / "cache"});
  EXPECT_EQ(other.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  EXPECT_EQ(other.counters().lock_waits, 0u);
  kill_process(child);
}

TEST(Processes, StoreWorksOnInAForkedChild) {
  const TempFolder temp;
  Store store({.folder = temp.path()});
  store.put(test_key(1), kEntry);
  in_child([&] {
    EXPECT_EQ(store.find(test_key(1))->tier, Tier::memory);
    EXPECT_EQ(store.find_or_make(test_key(2), [] { return kEntry; }).tier, Tier::made);
  });
  EXPECT_EQ(store.find(test_key(2))->tier, Tier::disk);
}

}  // namespace
}  // namespace tilejit::cache
