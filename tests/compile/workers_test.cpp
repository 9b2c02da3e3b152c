// Worker processes, played by a program that misbehaves as it is told.
#include "compile/workers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "compile/pool.hpp"
#include "fake/expect_error.hpp"
#include "tilejit/version.hpp"

namespace tilejit::compile {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kFakeWorker = TILEJIT_FAKE_WORKER;

Hello fake_hello() {
  return {.version = std::string(version()),
          .compiler = {.path = "/opt/libnvrtc.so.13", .build = "ab12"}};
}

WorkerOptions fake(WorkerLimits limits = {.time = 20s}) {
  return {.program = kFakeWorker, .hello = fake_hello(), .limits = limits};
}

Request request(const std::string& command, const std::string& name = "k") {
  Request request;
  request.source = {.name = name, .text = command, .headers = {}};
  request.target = "sm_90a";
  return request;
}

std::string cubin(const std::string& text) {
  return "\x7f"
         "ELF" +
         text;
}

std::size_t files_open() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "children");
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  }
  return pids;
}

/// How the fake worker greets, for the rest of the scope.
class WelcomeMode {
 public:
  explicit WelcomeMode(const char* mode) { ::setenv("TILEJIT_FAKE_WELCOME", mode, 1); }
  ~WelcomeMode() { ::unsetenv("TILEJIT_FAKE_WELCOME"); }
  WelcomeMode(const WelcomeMode&) = delete;
  WelcomeMode& operator=(const WelcomeMode&) = delete;
};

/// No test leaves anything of a worker behind.
class WorkersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tilejit_workers_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    files_ = files_open();
  }
  void TearDown() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child, and so no zombie
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(files_open(), files_);
    fs::remove_all(folder_);
  }

  fs::path folder_;
  std::size_t files_ = 0;
};

TEST_F(WorkersTest, CompileAndAreKept) {
  Workers workers(fake());
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(workers.compile(request("", name)).cubin, cubin(name));
  }
  EXPECT_EQ(workers.counters().starts, 1U);
  EXPECT_EQ(workers.counters().alive, 1U);
}

TEST_F(WorkersTest, PassErrorsOn) {
  Workers workers(fake());
  try {
    (void)workers.compile(request("refuse"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_failed);
    EXPECT_STREQ(error.what(), "no such thing (k.cu)");
    EXPECT_EQ(error.log(), "line 1: no such thing");
  }
  EXPECT_EQ(workers.compile(request("")).cubin, cubin("k"));
  EXPECT_EQ(workers.counters().starts, 1U);
  EXPECT_EQ(workers.counters().retries, 0U);
}

TEST_F(WorkersTest, CarryMuchTextBothWays) {
  Workers workers(fake());
  const std::string name(8u << 20, 'n');
  EXPECT_EQ(workers.compile(request(std::string(8u << 20, ' '), name)).cubin, cubin(name));
}

TEST_F(WorkersTest, AreAskedOnceMoreWhereOneCrashes) {
  Workers workers(fake());
  const std::string once = "crash " + (folder_ / "crashed").string();
  EXPECT_EQ(workers.compile(request(once)).cubin, cubin("k"));
  const WorkerCounters counters = workers.counters();
  EXPECT_EQ(counters.crashes, 1U);
  EXPECT_EQ(counters.retries, 1U);
  EXPECT_EQ(counters.restarts, 1U);
  EXPECT_EQ(counters.alive, 1U);
}

struct FaultCase {
  const char* command;
  const char* says;
  std::uint64_t WorkerCounters::*counter;
};
constexpr FaultCase kFaults[] = {
    {"crash", "was ended by signal 11", &WorkerCounters::crashes},
    {"exit", "ended with status 3", &WorkerCounters::crashes},
    {"half", "ended with status 0", &WorkerCounters::crashes},
    {"close", "closed its socket", &WorkerCounters::crashes},
    {"hang", "gave no answer in time", &WorkerCounters::timeouts},
    {"memory 96", "used more than 64 MiB", &WorkerCounters::out_of_memory},
    {"rubbish", "cannot be understood", &WorkerCounters::rubbish},
    {"huge", "cannot be understood", &WorkerCounters::rubbish},
    {"empty", "cannot be understood", &WorkerCounters::rubbish},
    {"other", "cannot be understood", &WorkerCounters::rubbish},
    {"text", "cannot be understood", &WorkerCounters::rubbish},
};

TEST_F(WorkersTest, FailAKernelAfterTwoOfThem) {
  for (const FaultCase& c : kFaults) {
    SCOPED_TRACE(c.command);
    const bool waits = std::string_view(c.command) == "hang";
    Workers workers(fake({.time = waits ? 200ms : 20000ms, .memory_bytes = 64u << 20}));
    expect_error(ErrorCode::compile_failed, c.says,
                 [&] { (void)workers.compile(request(c.command)); });
    const WorkerCounters counters = workers.counters();
    EXPECT_EQ(counters.*c.counter, 2U);
    EXPECT_EQ(counters.retries, 1U);
    EXPECT_EQ(counters.alive, 0U);
    EXPECT_EQ(workers.compile(request("")).cubin, cubin("k"));
  }
}

TEST_F(WorkersTest, CannotBeHadWhereTheyGreetWrongly) {
  constexpr std::pair<const char*, const char*> kModes[] = {
      {"version", "is of version 0.0.0"}, {"protocol", "is of version"},
      {"build", "another compiler"},      {"refuse", "there is no compiler"},
      {"rubbish", "be understood"},       {"die", "ended with status 7"},
      {"hang", "no answer in time"},
  };
  for (const auto& [mode, says] : kModes) {
    SCOPED_TRACE(mode);
    const WelcomeMode scope(mode);
    Workers workers(fake({.start = mode == std::string_view("hang") ? 300ms : 20000ms}));
    try {
      (void)workers.compile(request(""));
      FAIL();
    } catch (const NoWorkers& none) {
      EXPECT_THAT(none.what(), HasSubstr(says));
    }
    EXPECT_EQ(workers.counters().alive, 0U);
  }
}

TEST_F(WorkersTest, CannotBeHadWithoutAProgram) {
  WorkerOptions options = fake();
  options.program = folder_ / "missing";
  Workers workers(options);
  EXPECT_THROW((void)workers.compile(request("")), NoWorkers);
}

TEST_F(WorkersTest, HaveNoFileOfTheProcess) {
  const UniqueFd inheritable(::dup(STDERR_FILENO));  // without O_CLOEXEC
  Workers workers(fake());
  EXPECT_EQ(workers.compile(request("files")).cubin, cubin("3"));
}

TEST_F(WorkersTest, StopWhatRuns) {
  Workers workers(fake());
  auto running = std::async(std::launch::async, [&] {
    expect_error(ErrorCode::cancelled, "ended", [&] { (void)workers.compile(request("hang")); });
  });
  EXPECT_EQ(running.wait_for(100ms), std::future_status::timeout);
  workers.stop();
  EXPECT_EQ(running.wait_for(5s), std::future_status::ready);
}

TEST_F(WorkersTest, EndWhenTheyAreIdle) {
  WorkerOptions options = fake();
  options.idle = 30ms;
  Workers workers(options);
  (void)workers.compile(request(""));
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (workers.counters().alive > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(workers.counters().alive, 0U);
  EXPECT_EQ(workers.compile(request("")).cubin, cubin("k"));
}

TEST_F(WorkersTest, AreReplacedWhenTheyEndWhileIdle) {
  Workers workers(fake());
  (void)workers.compile(request(""));
  for (const pid_t child : children()) {
    ::kill(child, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  }
  EXPECT_EQ(workers.compile(request("")).cubin, cubin("k"));
  EXPECT_EQ(workers.counters().restarts, 1U);
  EXPECT_EQ(workers.counters().retries, 0U);
}

/// Kills one of the workers whenever three more kernels are done.
void kill_now_and_then(const std::atomic<int>& done, int all) {
  std::mt19937 random(1);
  for (int next = 1; next < all;) {
    std::this_thread::sleep_for(1ms);
    if (done < next) continue;
    const std::vector<pid_t> pids = children();
    if (pids.empty()) continue;
    ::kill(pids[random() % pids.size()], SIGKILL);
    next = done + 3;
  }
}

TEST_F(WorkersTest, LoseNoKernelWhenTheyAreKilled) {
  constexpr int kKernels = 200;
  Workers workers(fake());
  std::atomic<int> next = 0, done = 0, right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int number; (number = next++) < kKernels; ++done) {
        const std::string name = std::to_string(number);
        right += workers.compile(request("sleep 2", name)).cubin == cubin(name) ? 1 : 0;
      }
    });
  }
  kill_now_and_then(done, kKernels);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kKernels);
  EXPECT_GT(workers.counters().crashes, 10U);
}

/// A pool whose NVRTC is missing: compiles in this process fail.
PoolOptions pool(int jobs, int threads, std::vector<std::string>& warnings) {
  return {.jobs = jobs,
          .threads = threads,
          .program = kFakeWorker,
          .nvrtc = []() -> const Nvrtc& { throw Error(ErrorCode::no_compiler, "here"); },
          .compiler = [] { return fake_hello().compiler; },
          .warn = [&](const std::string& text) { warnings.push_back(text); }};
}

TEST_F(WorkersTest, TakeWhatThePoolHasNoThreadFor) {
  std::vector<std::string> warnings;
  Pool none_here(pool(2, 0, warnings));
  EXPECT_EQ(none_here.compile(request(""), Urgency::high).cubin, cubin("k"));
  EXPECT_EQ(none_here.counters().in_workers, 1U);
  Pool all_here(pool(2, 2, warnings));
  expect_error(ErrorCode::no_compiler, "here",
               [&] { (void)all_here.compile(request(""), Urgency::high); });
  EXPECT_THAT(warnings, ElementsAre());
}

TEST_F(WorkersTest, AreGoneWithoutAfterOneWarning) {
  const WelcomeMode scope("version");
  std::vector<std::string> warnings;
  Pool without(pool(2, 0, warnings));
  for (int i = 0; i < 3; ++i) {
    expect_error(ErrorCode::no_compiler, "here",
                 [&] { (void)without.compile(request(""), Urgency::low); });
  }
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("threads of this process alone")));
}

TEST_F(WorkersTest, AreGivenToTheUrgentFirst) {
  std::vector<std::string> warnings;
  Pool one(pool(1, 0, warnings));
  std::vector<std::string> order;
  std::mutex mutex;
  const auto compile = [&](const char* name, Urgency urgency) {
    return std::async(std::launch::async, [&, name, urgency] {
      (void)one.compile(request("sleep 100", name), urgency);
      const std::lock_guard lock(mutex);
      order.emplace_back(name);
    });
  };
  std::vector<std::future<void>> running;
  running.push_back(compile("first", Urgency::low));
  std::this_thread::sleep_for(30ms);
  running.push_back(compile("low", Urgency::low));
  std::this_thread::sleep_for(30ms);
  running.push_back(compile("high", Urgency::high));
  for (auto& one_running : running) one_running.get();
  EXPECT_THAT(order, ElementsAre("first", "high", "low"));
}

}  // namespace
}  // namespace tilejit::compile
