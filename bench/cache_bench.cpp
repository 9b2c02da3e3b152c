// Measures the cache alone: hits by tier, a dead remote, an eviction pass, and a process that waits
// for another's entry. Entries have payloads of 20 KB. TILEJIT_BENCH_ENTRIES sets the number of
// entries in the folder (100,000; they take 2.4 GB of disk while it runs). Percentiles are of
// single requests, in microseconds.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/folder.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/cache_identity.hpp"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tilejit::cache;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPayloadBytes = 20000;
constexpr int kBundleEntries = 10000;

int folder_entries() {
  const char* text = std::getenv("TILEJIT_BENCH_ENTRIES");
  return text != nullptr ? std::atoi(text) : 100000;
}

// A text as long as a kernel's key text; the key is its SHA-256.
std::string key_text_of(int i) {
  return R"({"compiler":"65be0db3","number":)" + std::to_string(i) + R"(,"plan":")" +
         std::string(1000, 'p') + R"("})";
}

std::string key_of(int i) {
  return sha256_hex(key_text_of(i));
}

// The text of the key, then the names that people ask for, in the form that tilejit::is_entry_of
// takes.
std::string metadata_of(int i) {
  std::string metadata = key_text_of(i);
  metadata.back() = ',';
  return metadata + "\n  \"kernel\": \"tilejit_bench\"\n}";
}

// Bytes that differ from entry to entry, as cubins do.
Entry entry_of(int i) {
  Entry entry{std::string(kPayloadBytes, '\0'), metadata_of(i)};
  std::mt19937 random(static_cast<unsigned>(i));
  for (char& byte : entry.payload) byte = static_cast<char>(random());
  return entry;
}

/// A separate folder below the current one, removed at the end.
class Workplace {
 public:
  Workplace() : path_(fs::absolute("tilejit-cache-bench-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Workplace() { fs::remove_all(path_); }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  [[nodiscard]] fs::path path() const { return path_; }

 private:
  std::string path_;
};

// Writes the entries without a Store, whose fsync per entry would take minutes.
void fill_folder(const fs::path& folder, int entries) {
  const Store names({.folder = folder});
  for (int i = 0; i < entries; ++i) {
    const fs::path path = names.path_of(key_of(i));
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << encode_entry(entry_of(i));
  }
}

const fs::path& full_folder() {
  static const Workplace place;
  static const fs::path folder = [] {
    fill_folder(place.path() / "cache", folder_entries());
    return place.path() / "cache";
  }();
  return folder;
}

void report_percentiles(benchmark::State& state, std::vector<double> microseconds) {
  if (microseconds.empty()) return;
  std::sort(microseconds.begin(), microseconds.end());
  const auto at = [&](double part) {
    return microseconds[static_cast<std::size_t>(part * (microseconds.size() - 1.0))];
  };
  state.counters["p50_us"] = at(0.5);
  state.counters["p99_us"] = at(0.99);
  state.counters["max_us"] = microseconds.back();
}

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void memory_hit(benchmark::State& state) {
  Store store({});
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) {
    keys.push_back(key_of(i));
    store.put(keys.back(), {"cubin", "{}"});
  }
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(store.find(keys[i]));
    i = (i + 7) % keys.size();
  }
}
BENCHMARK(memory_hit);

/// Accepts connections and never answers them, until it is destroyed.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    socklen_t size = sizeof address_;
    if (::bind(socket_, address, size) != 0 || ::listen(socket_, 8) != 0 ||
        ::getsockname(socket_, address, &size) != 0) {
      std::abort();
    }
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/";
  }

 private:
  int socket_;
  sockaddr_in address_ = {};
};

// Measures requests that no tier can answer, after a first request has found that the server is
// dead.
void dead_remote(benchmark::State& state) {
  const SilentServer server;
  constexpr auto kTimeout = 200ms;
  Store store({.remote = {.url = server.url(), .timeout = kTimeout}});
  const std::string key = key_of(0);
  const auto start = Clock::now();
  benchmark::DoNotOptimize(store.find(key));
  state.counters["beyond_timeout_us"] =
      microseconds_since(start) - std::chrono::duration<double, std::micro>(kTimeout).count();
  for (auto _ : state) benchmark::DoNotOptimize(store.find(key));
}
BENCHMARK(dead_remote);

// The keys are random. Each key is asked for once before, so that the file system is warm.
void hits(benchmark::State& state, Store& store, int entries) {
  std::mt19937 random(1);
  std::vector<std::string> keys;
  for (int i = 0; i < 20000; ++i) {
    keys.push_back(key_of(static_cast<int>(random() % static_cast<unsigned>(entries))));
    if (!store.find(keys.back())) state.SkipWithError("an entry is missing");
  }
  std::vector<double> microseconds;
  std::size_t i = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    benchmark::DoNotOptimize(store.find(keys[i]));
    microseconds.push_back(microseconds_since(start));
    i = (i + 1) % keys.size();
  }
  report_percentiles(state, std::move(microseconds));
}

void disk_hit(benchmark::State& state) {
  Store store({.folder = full_folder(), .memory_bytes = 0, .identity = tilejit::is_entry_of});
  hits(state, store, folder_entries());
}
BENCHMARK(disk_hit)->Iterations(20000)->Unit(benchmark::kMicrosecond);

void bundle_hit(benchmark::State& state) {
  const Workplace place;
  const fs::path path = place.path() / "kernels.tjb";
  {
    BundleWriter writer(path);
    for (int i = 0; i < kBundleEntries; ++i) writer.add(key_of(i), entry_of(i));
    writer.finish();
  }
  Store store({.read_only = {path}, .memory_bytes = 0, .identity = tilejit::is_entry_of});
  hits(state, store, kBundleEntries);
}
BENCHMARK(bundle_hit)->Iterations(20000)->Unit(benchmark::kMicrosecond);

// A miss: the time that comes before a lower tier or a compile.
void miss(benchmark::State& state) {
  Store store({.folder = full_folder()});
  int i = -1;
  std::vector<double> microseconds;
  for (auto _ : state) {
    const std::string key = key_of(i--);
    const auto start = Clock::now();
    benchmark::DoNotOptimize(store.find(key));
    microseconds.push_back(microseconds_since(start));
  }
  report_percentiles(state, std::move(microseconds));
}
BENCHMARK(miss)->Iterations(20000)->Unit(benchmark::kMicrosecond);

void sweep_that_removes_nothing(benchmark::State& state) {
  const Folder folder(full_folder());
  for (auto _ : state) benchmark::DoNotOptimize(folder.prune({.bytes = std::uint64_t{1} << 60}));
}
BENCHMARK(sweep_that_removes_nothing)->Iterations(3)->Unit(benchmark::kMillisecond);

// Removes a tenth of the entries. It runs last in this file, because it leaves fewer entries.
void sweep_that_removes_a_tenth(benchmark::State& state) {
  const Folder folder(full_folder());
  const std::uint64_t kept = folder.prune({}).kept_bytes / 10 * 9;
  for (auto _ : state) {
    state.counters["removed"] = static_cast<double>(folder.prune({.bytes = kept}).removed);
  }
}

void write_time(int pipe) {
  const auto now = Clock::now();  // all processes share this clock
  if (::write(pipe, &now, sizeof now) != sizeof now) std::abort();
}

Clock::time_point read_time(int pipe) {
  Clock::time_point time;
  if (::read(pipe, &time, sizeof time) != sizeof time) std::abort();
  return time;
}

// Reports through `pipe` when its make begins, and when it ends.
[[noreturn]] void make_slowly(const fs::path& folder, const std::string& key, int pipe) {
  Store store({.folder = folder});
  (void)store.find_or_make(key, [&] {
    Entry entry = entry_of(0);
    write_time(pipe);
    std::this_thread::sleep_for(50ms);
    write_time(pipe);
    return entry;
  });
  ::_exit(0);
}

// The time from the end of the first process's make to the answer in the second, publishing
// included.
double wait_beyond_make(const fs::path& folder, const std::string& key) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t maker = ::fork();
  if (maker == 0) make_slowly(folder, key, ends[1]);
  ::close(ends[1]);  // if the maker dies, the reads below end
  (void)read_time(ends[0]);
  Store store({.folder = folder});
  const Answer answer = store.find_or_make(key, [] { return entry_of(0); });
  const auto answered = Clock::now();
  const Clock::time_point made = read_time(ends[0]);
  ::waitpid(maker, nullptr, 0);
  ::close(ends[0]);
  if (answer.tier != Tier::disk) std::abort();
  return std::chrono::duration<double, std::micro>(answered - made).count();
}

void waiting_process(benchmark::State& state) {
  const Workplace place;
  std::vector<double> microseconds;
  int i = 0;
  for (auto _ : state) {
    microseconds.push_back(wait_beyond_make(place.path() / "cache", key_of(i++)));
  }
  report_percentiles(state, std::move(microseconds));
}
BENCHMARK(waiting_process)->Iterations(50)->Unit(benchmark::kMillisecond);
BENCHMARK(sweep_that_removes_a_tenth)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
