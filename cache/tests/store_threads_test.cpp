#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "temp_folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

using namespace std::chrono_literals;

// A `make` that runs until it is told to end, and reports when it has begun.
class SlowMake {
 public:
  Entry operator()() {
    begun_.set_value();
    end_.get_future().wait();
    return {"slow", "{}"};
  }
  void wait_until_begun() { begun_.get_future().wait(); }
  void end() { end_.set_value(); }

 private:
  std::promise<void> begun_, end_;
};

TEST(StoreThreads, MakeOneEntryForSixteen) {
  const TempFolder folder;
  Store store({.folder = folder.path()});
  std::latch start(16);
  std::atomic<int> makes = 0, made = 0;
  std::vector<EntryPtr> entries(16);
  std::vector<std::jthread> threads;
  for (EntryPtr& mine : entries) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      const Answer answer = store.find_or_make(test_key(1), [&] {
        ++makes;
        std::this_thread::sleep_for(20ms);
        return Entry{"payload", "{}"};
      });
      if (answer.tier == Tier::made) ++made;
      mine = answer.entry;
    });
  }
  threads.clear();
  EXPECT_EQ(makes, 1);
  EXPECT_EQ(made, 1);
  for (const EntryPtr& entry : entries) EXPECT_EQ(entry, entries.front());
  EXPECT_EQ(store.counters().made, 1u);
  EXPECT_EQ(store.counters().memory.hits, 15u);
}

TEST(StoreThreads, WithoutAnyTierWaitersStillShare) {
  Store store({.memory_bytes = 0});
  SlowMake slow;
  auto leader = std::async(std::launch::async,
                           [&] { return store.find_or_make(test_key(1), [&] { return slow(); }); });
  slow.wait_until_begun();
  std::latch arrived(1);
  std::atomic<int> makes = 0;
  auto waiter = std::async(std::launch::async, [&] {
    arrived.count_down();
    return store.find_or_make(test_key(1), [&] {
      ++makes;
      return Entry{"own", "{}"};
    });
  });
  arrived.wait();
  EXPECT_EQ(waiter.wait_for(50ms), std::future_status::timeout);
  slow.end();
  EXPECT_EQ(waiter.get().entry, leader.get().entry);
  EXPECT_EQ(makes, 0);
}

TEST(StoreThreads, ShareAnExceptionAndForgetIt) {
  Store store({.failure_ttl = 0ms});
  std::promise<void> release;
  const auto released = release.get_future().share();
  std::latch arrived(9);
  std::atomic<int> makes = 0, caught = 0;
  const auto request = [&] {
    arrived.count_down();
    try {
      (void)store.find_or_make(test_key(1), [&]() -> Entry {
        ++makes;
        released.wait();
        throw std::runtime_error("refused");
      });
    } catch (const std::runtime_error& error) {
      if (std::string(error.what()) == "refused") ++caught;
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 9; ++i) threads.emplace_back(request);
  arrived.wait();
  std::this_thread::sleep_for(50ms);  // lets the waiters start to wait; late ones would make again
  release.set_value();
  threads.clear();
  EXPECT_EQ(caught, 9);
  EXPECT_EQ(makes, 1);
  const auto next = store.find_or_make(test_key(1), [] { return Entry{"second try", "{}"}; });
  EXPECT_EQ(next.tier, Tier::made);
  EXPECT_EQ(store.counters().made, 1u);
}

TEST(StoreThreads, RecallAFailureForAMoment) {
  const TempFolder folder;
  Store store({.folder = folder.path(), .failure_ttl = 100ms});
  int makes = 0;
  const auto request = [&] {
    return store.find_or_make(test_key(1), [&]() -> Entry {
      if (++makes == 1) throw std::runtime_error("refused");
      return {"mended", "{}"};
    });
  };
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) EXPECT_THROW((void)request(), std::runtime_error);
  ASSERT_LT(std::chrono::steady_clock::now() - start, 100ms) << "too slow a machine to tell";
  EXPECT_EQ(makes, 1);
  EXPECT_EQ(store.counters().make_failures, 1u);
  EXPECT_EQ(store.counters().recalled_failures, 999u);
  EXPECT_THAT(files_below(folder.path()), ::testing::ElementsAre("v1/lock/keys"));
  std::this_thread::sleep_for(101ms);
  EXPECT_EQ(request().entry->payload, "mended");
}

TEST(StoreThreads, AnEntryThatIsThereBeatsAFailure) {
  Store store({});
  EXPECT_THROW(
      (void)store.find_or_make(test_key(1), []() -> Entry { throw std::runtime_error(""); }),
      std::runtime_error);
  store.put(test_key(1), {"put", "{}"});
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return Entry{}; }).entry->payload, "put");
}

TEST(StoreThreads, MakeDifferentKeysInParallel) {
  Store store({});
  std::latch both(2);  // each make waits for the other: running them in sequence would hang
  const auto make = [&] {
    both.arrive_and_wait();
    return Entry{"payload", "{}"};
  };
  auto other =
      std::async(std::launch::async, [&] { return store.find_or_make(test_key(1), make); });
  EXPECT_EQ(store.find_or_make(test_key(2), make).tier, Tier::made);
  EXPECT_EQ(other.get().tier, Tier::made);
}

TEST(StoreThreads, HitsDoNotWaitForAMake) {
  const TempFolder folder;
  Store(Options{.folder = folder.path()}).put(test_key(2), {"on disk", "{}"});
  Store store({.folder = folder.path()});
  store.put(test_key(3), {"in memory", "{}"});
  SlowMake slow;
  auto leader = std::async(std::launch::async,
                           [&] { return store.find_or_make(test_key(1), [&] { return slow(); }); });
  slow.wait_until_begun();
  // The make ends only after all of these requests have been answered.
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_EQ(store.find(test_key(2))->tier, Tier::disk);
  EXPECT_EQ(store.find_or_make(test_key(3), [] { return Entry{}; }).tier, Tier::memory);
  store.put(test_key(1), {"put", "{}"});
  EXPECT_EQ(store.find(test_key(1))->entry->payload, "put");
  slow.end();
  EXPECT_EQ(leader.get().entry->payload, "slow");
}

TEST(StoreThreads, ReadersNeverSeeAPartialEntry) {
  const TempFolder folder;
  const Entry versions[] = {{std::string(30000, 'a'), "{\"v\":0}"}, {std::string(50, 'b'), "{}"}};
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    Store store({.folder = folder.path()});
    for (int i = 0; !stop; ++i) store.put(test_key(1), versions[i % 2]);
  });
  Store reader({.folder = folder.path(), .memory_bytes = 0});
  int seen = 0;
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (seen < 300 && std::chrono::steady_clock::now() < deadline) {
    const auto answer = reader.find(test_key(1));
    if (!answer) continue;
    ++seen;
    EXPECT_TRUE(*answer->entry == versions[0] || *answer->entry == versions[1]);
  }
  stop = true;
  EXPECT_EQ(seen, 300);
  EXPECT_EQ(reader.counters().disk.damaged, 0u);
}

}  // namespace
}  // namespace tilejit::cache
