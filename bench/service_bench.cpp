// Measures the compile service without a GPU: how the warming of 200 distinct kernels scales with
// Options::compile_jobs, what a worker process adds to a compile, and how much memory it holds. If
// there is a GPU, it also measures the time from a request to the first launch, tiered against
// full.
//
//   service_bench [--kernels 200] [--jobs 1,2,16] [--threads 2]
//
// Prints one JSON object per line; "speed_up" is against the first of --jobs. `--threads` is the
// number of compiles inside this process, as Options::compile_threads.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tilejit/tilejit.hpp"

namespace {

using namespace tilejit;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kOverheadCompiles = 40;
constexpr int kFirstLaunches = 15;

struct Settings {
  int kernels = 200;
  std::vector<int> jobs = {1, 2, 16};
  int threads = Options().compile_threads;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// A cache folder that is removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() : path_((fs::temp_directory_path() / "tilejit-bench-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] Options options() const {
    Options options = Options::from_env();
    options.cache_folder = path_;
    options.cache_path.clear();
    options.cache_remote = {};
    return options;
  }

 private:
  std::string path_;
};

/// Three kinds of kernels in turn. The name enters the key.
Fused kernel(int number) {
  const std::string name = "k" + std::to_string(number);
  switch (number % 3) {
    case 0:
      return {.name = name,
              .tensors = {{"a", f16, "(16384,8192):(8192,1)"},
                          {"b", f16, "(16384,8192):(8192,1)"},
                          {"c", f16, "(16384,8192):(8192,1)"}},
              .formula = "c = a + b"};
    case 1:
      return {.name = name,
              .tensors = {{"a", f16, "(16384,8192):(8192,1)"},
                          {"b", f16, "(16384,8192):(1,16384)"},
                          {"c", f16, "(16384,8192):(8192,1)"}},
              .formula = "c = a + b"};
    default:
      return {.name = name,
              .tensors = {{"x", bf16, "(4096,1024):(1024,1)"}, {"y", bf16, "(4096,1024):(1024,1)"}},
              .formula = "e = exp(x - max(x))\ny = e / sum(e)"};
  }
}

/// The largest peak resident memory of a child process, in MiB.
double largest_child_mib() {
  double largest = 0;
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (int pid = 0; children >> pid;) {
      std::ifstream status("/proc/" + std::to_string(pid) + "/status");
      for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("VmHWM:")) continue;
        largest = std::max(largest, std::strtod(line.c_str() + 6, nullptr) / 1024);
      }
    }
  }
  return largest;
}

/// Returns seconds.
double warm(const Settings& settings, int jobs, double first_seconds) {
  const ScratchFolder folder;
  Options options = folder.options();
  options.compile_jobs = jobs;
  options.compile_threads = settings.threads;
  const auto start = Clock::now();
  Compiler compiler(options);
  std::vector<PendingArtifact> pending;
  for (int i = 0; i < settings.kernels; ++i) {
    pending.push_back(
        compiler.compile_async(kernel(i), Target{}, {.priority = Priority::background}));
  }
  double nvrtc = 0;
  for (const PendingArtifact& one : pending) nvrtc += one.get().times.nvrtc;
  const double seconds = milliseconds_since(start) / 1e3;
  std::printf(
      "{\"warm\": %d, \"jobs\": %d, \"threads\": %d, \"workers\": %llu, \"seconds\": %.3f, "
      "\"a_second\": %.1f, \"speed_up\": %.2f, \"nvrtc_ms\": %.2f, \"worker_mib\": %.1f}\n",
      settings.kernels, jobs, std::min(jobs, settings.threads),
      static_cast<unsigned long long>(compiler.service_stats().worker_starts), seconds,
      settings.kernels / seconds, first_seconds > 0 ? first_seconds / seconds : 1.0,
      nvrtc / settings.kernels, largest_child_mib());
  std::fflush(stdout);
  return seconds;
}

/// Measures the time of a compile beyond NVRTC's own, in this process and in a worker. Both take
/// turns, so that clocks and noise affect both alike.
void overhead() {
  const ScratchFolder here_folder, away_folder;
  Options options = here_folder.options();
  options.compile_jobs = options.compile_threads = 1;
  Compiler here(options);
  options = away_folder.options();
  options.compile_jobs = 1;
  options.compile_threads = 0;
  Compiler away(options);
  std::vector<double> beyond[2];
  for (int i = -3; i < kOverheadCompiles; ++i) {
    for (int place = 0; place < 2; ++place) {
      const auto start = Clock::now();
      const Artifact artifact = (place == 0 ? here : away).compile(kernel(1000 + i), Target{});
      if (i >= 0) beyond[place].push_back(milliseconds_since(start) - artifact.times.nvrtc);
    }
  }
  const auto least = [](const std::vector<double>& values) {
    return *std::ranges::min_element(values);
  };
  std::printf(
      "{\"beyond_nvrtc_ms\": {\"in_process\": %.3f, \"in_worker\": %.3f}, \"worker_overhead_ms\": "
      "%.3f, "
      "\"least_overhead_ms\": %.3f, \"in_workers\": %llu, \"worker_mib\": %.1f}\n",
      median(beyond[0]), median(beyond[1]), median(beyond[1]) - median(beyond[0]),
      least(beyond[1]) - least(beyond[0]),
      static_cast<unsigned long long>(away.service_stats().in_workers), largest_child_mib());
}

/// A kernel of the largest template. The name makes each a separate kernel.
Fused scanned_softmax(const std::string& name) {
  return {.name = name,
          .tensors = {{"x", f16, "(128,1024):(1024,1)"}, {"y", f32, "(128,1024):(1024,1)"}},
          .formula = "e = exp(x - max(x))\ny = cumsum(e) * (1 / sum(e))"};
}

/// Milliseconds from a request to the end of the first launch, with nothing cached.
double first_launch(Runtime& runtime, const Fused& op, const Buffer& x, const Buffer& y) {
  const auto start = Clock::now();
  const Kernel kernel = runtime.compile(op);
  kernel.launch(nullptr, {x, y});
  float first = 0;
  y.copy_to_host(&first, sizeof first);
  const double milliseconds = milliseconds_since(start);
  const auto is_behind = [&] {
    const ServiceStats stats = runtime.compiler().service_stats();
    return stats.quick_builds > stats.swaps + stats.swap_failures;
  };
  while (is_behind()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return milliseconds;
}

/// Full and tiered compiles take turns, as above.
void tiered() {
  Options options = Options::from_env();
  options.cache_folder = {};
  options.cache_path.clear();
  options.cache_remote = {};
  options.deterministic = false;
  std::vector<std::unique_ptr<Runtime>> runtimes;
  try {
    for (const CompileEffort effort : {CompileEffort::full, CompileEffort::tiered}) {
      options.compile_effort = effort;
      runtimes.push_back(std::make_unique<Runtime>(options));
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "no GPU, so no first launches: %s\n", error.what());
    return;
  }
  const Buffer x(*runtimes[0], 128 * 1024 * 2), y(*runtimes[0], 128 * 1024 * 4);
  std::vector<double> first[2];
  for (int i = -2; i < kFirstLaunches; ++i) {
    for (std::size_t which = 0; which < 2; ++which) {
      const Fused op = scanned_softmax("s" + std::to_string(i + 2));
      const double milliseconds = first_launch(*runtimes[which], op, x, y);
      if (i >= 0) first[which].push_back(milliseconds);
    }
  }
  std::printf("{\"first_launch_ms\": {\"full\": %.2f, \"tiered\": %.2f}, \"ratio\": %.3f}\n",
              median(first[0]), median(first[1]), median(first[1]) / median(first[0]));
}

Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--kernels") settings.kernels = std::atoi(argv[i + 1]);
    if (name == "--threads") settings.threads = std::atoi(argv[i + 1]);
    if (name != "--jobs") continue;
    settings.jobs.clear();
    std::istringstream list(argv[i + 1]);
    for (std::string item; std::getline(list, item, ',');) {
      settings.jobs.push_back(std::atoi(item.c_str()));
    }
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Settings settings = settings_of(argc, argv);
    double first = 0;
    for (const int jobs : settings.jobs) {
      const double seconds = warm(settings, jobs, first);
      if (first == 0) first = seconds;
    }
    overhead();
    tiered();
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "service_bench: %s\n", error.what());
    return 1;
  }
}
