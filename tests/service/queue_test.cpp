#include "service/queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <random>
#include <semaphore>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "fake/expect_error.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/error.hpp"

namespace tilejit::service {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using Clock = std::chrono::steady_clock;

Artifact artifact_of(const std::string& key) {
  Artifact artifact;
  artifact.key = key;
  artifact.cubin = std::make_shared<const std::string>("cubin of " + key);
  return artifact;
}

Work makes(const std::string& key) {
  return [key](Priority) { return artifact_of(key); };
}

CompileRequest background() {
  return {.priority = Priority::background};
}

/// Keeps the queue's only thread busy until it is opened.
class Gate {
 public:
  explicit Gate(Queue& queue) {
    pending_ = queue.submit("gate", {}, [this](Priority) {
      entered_.release();
      open_.acquire();
      return artifact_of("gate");
    });
    entered_.acquire();
  }
  void open() {
    open_.release();
    EXPECT_TRUE(pending_.wait_for(20s));
  }

 private:
  std::binary_semaphore entered_{0}, open_{0};
  PendingArtifact pending_;
};

/// Records the order in which jobs run.
class Order {
 public:
  [[nodiscard]] Work add(const std::string& key) {
    return [this, key](Priority) {
      const std::lock_guard lock(mutex_);
      keys_.push_back(key);
      return artifact_of(key);
    };
  }
  [[nodiscard]] std::vector<std::string> keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> keys_;
};

TEST(Queue, AnswersWithTheArtifact) {
  Queue queue(2, 8);
  const PendingArtifact pending = queue.submit("a", {}, makes("a"));
  EXPECT_EQ(pending.get().key, "a");
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(pending.state(), CompileState::done);
  const PendingArtifact copy = pending;
  EXPECT_EQ(&copy.get(), &pending.get());
}

TEST(Queue, PassesTheErrorToEveryRequest) {
  Queue queue(1, 8);
  Gate gate(queue);
  const Work fails = [](Priority) -> Artifact {
    throw Error(ErrorCode::compile_failed, "no such luck");
  };
  const PendingArtifact first = queue.submit("a", {}, fails);
  const PendingArtifact second = queue.submit("a", {}, fails);
  gate.open();
  for (const PendingArtifact& pending : {first, second}) {
    expect_error(ErrorCode::compile_failed, "no such luck", [&] { (void)pending.get(); });
    EXPECT_EQ(pending.state(), CompileState::failed);
  }
  EXPECT_EQ(queue.stats().failed, 1U);
}

TEST(Queue, RunsTheForegroundFirstAndRaisesWhatItAsksFor) {
  Queue queue(1, 8);
  Order order;
  Gate gate(queue);
  std::vector<PendingArtifact> all;
  for (const char* key : {"b1", "b2", "b3"}) {
    all.push_back(queue.submit(key, background(), order.add(key)));
  }
  all.push_back(queue.submit("f1", {}, order.add("f1")));
  all.push_back(queue.submit("b3", {}, order.add("b3 again")));
  all.push_back(queue.submit("b2", background(), order.add("b2 again")));
  gate.open();
  for (const PendingArtifact& pending : all) (void)pending.get();
  EXPECT_THAT(order.keys(), ElementsAre("f1", "b3", "b1", "b2"));
  const ServiceStats stats = queue.stats();
  EXPECT_EQ(stats.requests, 7U);
  EXPECT_EQ(stats.joined, 2U);
  EXPECT_EQ(stats.raised, 1U);
  EXPECT_EQ(stats.done, 5U);
  EXPECT_EQ(stats.waited.total(), 5U);
}

TEST(Queue, NeverStartsWhatIsCancelled) {
  Queue queue(1, 8);
  Order order;
  Gate gate(queue);
  const PendingArtifact gone = queue.submit("gone", {}, order.add("gone"));
  const PendingArtifact shared = queue.submit("shared", {}, order.add("shared"));
  const PendingArtifact other = queue.submit("shared", {}, order.add("shared"));
  gone.cancel();
  shared.cancel();
  for (const PendingArtifact& pending : {gone, shared}) {
    EXPECT_EQ(pending.state(), CompileState::cancelled);
    expect_error(ErrorCode::cancelled, "no longer wanted", [&] { (void)pending.get(); });
  }
  gate.open();
  EXPECT_EQ(other.get().key, "shared");
  other.cancel();  // too late
  EXPECT_EQ(other.state(), CompileState::done);
  EXPECT_THAT(order.keys(), ElementsAre("shared"));
  const ServiceStats stats = queue.stats();
  EXPECT_EQ(stats.cancelled, 1U);
  EXPECT_EQ(stats.withdrawn, 2U);
  EXPECT_EQ(stats.queued, 0U);
}

TEST(Queue, LeavesWhatRunsToItself) {
  Queue queue(1, 8);
  std::binary_semaphore entered{0}, open{0};
  std::atomic<bool> finished = false;
  const PendingArtifact pending = queue.submit("a", {}, [&](Priority) {
    entered.release();
    open.acquire();
    finished = true;
    return artifact_of("a");
  });
  entered.acquire();
  EXPECT_EQ(pending.state(), CompileState::running);
  const PendingArtifact late = queue.submit("a", {}, makes("never"));
  EXPECT_EQ(late.state(), CompileState::running);
  pending.cancel();
  expect_error(ErrorCode::cancelled, "", [&] { (void)pending.get(); });
  EXPECT_FALSE(finished);
  open.release();
  EXPECT_EQ(late.get().key, "a");
  EXPECT_EQ(queue.stats().done, 1U);
}

TEST(Queue, HeedsStopTokens) {
  Queue queue(1, 8);
  Gate gate(queue);
  std::stop_source source;
  const PendingArtifact before = queue.submit("a", {.stop = source.get_token()}, makes("a"));
  EXPECT_FALSE(before.ready());
  source.request_stop();
  EXPECT_EQ(before.state(), CompileState::cancelled);
  const PendingArtifact after = queue.submit("b", {.stop = source.get_token()}, makes("b"));
  EXPECT_EQ(after.state(), CompileState::cancelled);
  gate.open();
  EXPECT_EQ(queue.stats().cancelled, 2U);
}

TEST(Queue, KeepsDeadlines) {
  Queue queue(1, 8);
  Order order;
  Gate gate(queue);
  const PendingArtifact waited_for =
      queue.submit("a", {.deadline = Clock::now() + 20ms}, order.add("a"));
  const PendingArtifact forgotten =
      queue.submit("b", {.deadline = Clock::now() + 20ms}, order.add("b"));
  const PendingArtifact in_time =
      queue.submit("c", {.deadline = Clock::now() + 1h}, order.add("c"));
  EXPECT_FALSE(waited_for.wait_for(1ms));
  expect_error(ErrorCode::deadline_exceeded, "deadline", [&] { (void)waited_for.get(); });
  EXPECT_EQ(waited_for.state(), CompileState::failed);
  std::this_thread::sleep_for(25ms);
  gate.open();
  EXPECT_EQ(in_time.get().key, "c");
  expect_error(ErrorCode::deadline_exceeded, "", [&] { (void)forgotten.get(); });
  EXPECT_THAT(order.keys(), ElementsAre("c"));
  EXPECT_EQ(queue.stats().expired, 2U);
  EXPECT_EQ(queue.stats().cancelled, 2U);
}

TEST(Queue, RefusesWhatItHasNoRoomFor) {
  Queue queue(1, 2);
  Gate gate(queue);
  const PendingArtifact first = queue.submit("a", {}, makes("a"));
  const PendingArtifact second = queue.submit("b", {}, makes("b"));
  const CompileRequest no_waiting{.when_full = WhenFull::refuse};
  expect_error(ErrorCode::queue_full, "2 kernels wait",
               [&] { (void)queue.submit("c", no_waiting, makes("c")); });
  const PendingArtifact joined = queue.submit("b", no_waiting, makes("b"));  // takes no room
  expect_error(ErrorCode::deadline_exceeded, "no room",
               [&] { (void)queue.submit("c", {.deadline = Clock::now() + 5ms}, makes("c")); });
  std::stop_source source;
  source.request_stop();
  expect_error(ErrorCode::cancelled, "no room",
               [&] { (void)queue.submit("c", {.stop = source.get_token()}, makes("c")); });
  auto waits = std::async(std::launch::async, [&] { return queue.submit("c", {}, makes("c")); });
  EXPECT_EQ(waits.wait_for(20ms), std::future_status::timeout);
  first.cancel();  // makes room
  EXPECT_EQ(waits.wait_for(20s), std::future_status::ready);
  gate.open();
  EXPECT_EQ(waits.get().get().key, "c");
  EXPECT_EQ(joined.get().key, "b");
  EXPECT_EQ(queue.stats().refused, 1U);
}

TEST(Queue, TellsHowItGoes) {
  Queue queue(1, 8);
  std::mutex mutex;
  std::vector<std::string> told;
  const auto tell = [&](const std::string& name) {
    return [&, name](CompileState state) {
      const std::lock_guard lock(mutex);
      told.push_back(name + " " + std::string(to_string(state)));
      if (name == "thrower") throw std::runtime_error("an observer's trouble");
    };
  };
  const Work fails = [](Priority) -> Artifact { throw Error(ErrorCode::compile_failed, "no"); };
  (void)queue.submit("a", {.progress = tell("a")}, makes("a")).wait_for(20s);
  (void)queue.submit("b", {.progress = tell("b")}, fails).wait_for(20s);
  (void)queue.submit("c", {.progress = tell("thrower")}, makes("c")).wait_for(20s);
  {
    Gate gate(queue);
    queue.submit("d", {.progress = tell("d")}, makes("d")).cancel();
    gate.open();
  }
  const std::lock_guard lock(mutex);
  EXPECT_THAT(told, ElementsAre("a running", "a done", "b running", "b failed", "thrower running",
                                "thrower done", "d cancelled"));
}

TEST(Queue, CancelsWhatWaitsWhenItEnds) {
  std::binary_semaphore entered{0}, open{0};
  PendingArtifact running, waiting;
  {
    Queue queue(1, 8);
    running = queue.submit("a", {}, [&](Priority) {
      entered.release();
      open.acquire();
      return artifact_of("a");
    });
    entered.acquire();
    waiting = queue.submit("b", {}, makes("b"));
    queue.close();
    expect_error(ErrorCode::cancelled, "ended before", [&] { (void)waiting.get(); });
    expect_error(ErrorCode::cancelled, "no more", [&] { (void)queue.submit("c", {}, makes("c")); });
    open.release();
  }
  EXPECT_EQ(running.get().key, "a");
  running.cancel();
  EXPECT_EQ(PendingArtifact().state(), CompileState::cancelled);
}

// How the Compiler uses it: the store limits `make` to one per key, the queue does the rest.
TEST(Queue, ServesSixteenThreadsThatCancelMuch) {
  constexpr int kThreads = 16, kRequests = 1000, kKeys = 100;
  cache::Store store({});
  std::array<std::atomic<int>, kKeys> made = {};
  std::array<std::atomic<int>, kKeys> delivered = {};
  Queue queue(4, 64);
  const auto work_of = [&](int number) {
    return [&, number](Priority) {
      const std::string key = cache::sha256_hex(std::to_string(number));
      const auto answer = store.find_or_make(key, [&] {
        ++made[number];
        std::this_thread::yield();
        return cache::Entry{std::to_string(number), "{}"};
      });
      return artifact_of(answer.entry->payload);
    };
  };
  const auto ask = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kRequests; ++i) {
      const int number = static_cast<int>(random() % kKeys);
      std::stop_source source;
      const PendingArtifact pending =
          queue.submit(std::to_string(number),
                       {.priority = random() % 2 == 0 ? Priority::foreground : Priority::background,
                        .stop = source.get_token()},
                       work_of(number));
      if (random() % 3 == 0) pending.cancel();
      if (random() % 5 == 0) source.request_stop();
      try {
        EXPECT_EQ(pending.get().key, std::to_string(number));
        ++delivered[number];
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(ask, i);
  for (std::thread& thread : threads) thread.join();
  for (int number = 0; number < kKeys; ++number) {
    EXPECT_EQ(made[number], 1) << number;
    EXPECT_GT(delivered[number], 0) << number;
  }
  const ServiceStats stats = queue.stats();
  EXPECT_EQ(stats.requests, std::uint64_t{kThreads} * kRequests);
  EXPECT_EQ(stats.failed + stats.queued, 0U);
  EXPECT_GT(stats.withdrawn, 0U);
}

}  // namespace
}  // namespace tilejit::service
