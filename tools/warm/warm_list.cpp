#include "warm/warm_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_set>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/sentence.hpp"
#include "common/spec_file.hpp"
#include "tilejit/error.hpp"
#include "tilejit/manifest.hpp"

namespace tilejit::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string extension = at->path().extension().string();
    if (at->is_regular_file() && (extension == ".json" || extension == ".jsonl")) {
      files.push_back(at->path().string());
    }
  }
  if (error) {
    throw UsageError(fmt::format("{} could not be listed: {}", folder, error.message()));
  }
  if (files.empty()) throw UsageError(folder + " has no .json or .jsonl file; check the path");
  std::ranges::sort(files);  // so that shards on different machines agree
  return files;
}

/// Reads descriptors from texts.
class ListReader {
 public:
  ListReader(const std::vector<Target>& targets, bool allow_source)
      : targets_(targets), allow_source_(allow_source) {}

  void read(const std::string& path) {
    if (path != "-" && fs::is_directory(path)) {
      for (const std::string& file : files_below(path)) read_text(file);
    } else {
      read_text(path);
    }
  }
  [[nodiscard]] WarmList take() { return std::move(list_); }

 private:
  void read_text(const std::string& path) {
    const std::string text = read_file(path, kLargestFile);
    const std::string name = path == "-" ? "standard input" : path;
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
      throw UsageError(name + " is empty; it takes a spec file or a manifest");
    }
    const SpecOptions options = spec_options(path, allow_source_);
    if (path.ends_with(".jsonl") || is_manifest(text)) return read_manifest(text, name, options);
    try {
      std::vector<Error> faults;
      for (Operation& op : parse_specs(text, &faults, options)) add(std::move(op), std::nullopt);
      for (const Error& fault : faults) list_.faults.push_back(name + ": " + fault.what());
    } catch (const Error& error) {
      throw Error(error.code(), name + ": " + error.what());
    }
  }

  void read_manifest(const std::string& text, const std::string& name, const SpecOptions& options) {
    Manifest manifest = parse_manifest(text, options);
    for (const std::string& fault : manifest.faults) list_.faults.push_back(name + ", " + fault);
    for (ManifestEntry& entry : manifest.entries) add(std::move(entry.op), entry.target);
  }

  void add(Operation op, std::optional<Target> recorded) {
    const std::size_t number = list_.ops.size();
    list_.ops.push_back(std::move(op));
    for (const Target& target : targets_) list_.jobs.push_back({number, target});
    if (!targets_.empty()) return;
    if (!recorded && !default_) default_ = default_target();
    list_.jobs.push_back({number, recorded ? *recorded : *default_});
  }

  const std::vector<Target>& targets_;
  const bool allow_source_;
  std::optional<Target> default_;
  WarmList list_;
};

using DevicesByTarget = std::map<std::string, std::vector<std::string>>;

void check_device(const std::string& name, const DevicesByTarget& known) {
  std::set<std::string> all;
  for (const auto& [target, names] : known) all.insert(names.begin(), names.end());
  if (all.contains(name)) return;
  if (all.empty()) {
    throw UsageError(
        "--device names a device of the tuning file, which has none of these targets; leave it "
        "out, or name the file by TILEJIT_TUNING");
  }
  throw UsageError(fmt::format("--device is '{}'; the tuning file has '{}'", name.substr(0, 80),
                               fmt::join(all, "', '")));
}

std::size_t whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

std::string name_of(const WarmList& list, const WarmJob& job) {
  return list.op_of(job).name() + " for " + to_string(job.target) +
         (job.device.empty() ? "" : ", " + job.device);
}

void add_targets_option(CLI::App& command, std::vector<std::string>& targets) {
  command
      .add_option("--target", targets,
                  "sm_75 to sm_120a, several by commas; default: the manifest's, else the "
                  "device's, else sm_90a")
      ->type_name("TARGET,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_devices_option(CLI::App& command, std::vector<std::string>& devices) {
  command
      .add_option("--device", devices,
                  "A device of the tuning file, by its name, whose kernels are meant; may be "
                  "repeated; default: every one of the target")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

void take_devices(const Compiler& compiler, WarmList& list,
                  const std::vector<std::string>& devices) {
  DevicesByTarget known;
  std::vector<WarmJob> jobs;
  for (const WarmJob& job : list.jobs) {
    const auto [at, added] = known.try_emplace(to_string(job.target));
    if (added) at->second = compiler.tuned_devices(job.target);
    const std::vector<std::string>& own = at->second;
    std::vector<std::string> names = devices.empty() ? own : devices;
    if (devices.empty() && own.size() < 2) names = {""};
    for (std::string& name : names) jobs.push_back({job.op, job.target, std::move(name)});
  }
  for (const std::string& name : devices) check_device(name, known);
  list.jobs = std::move(jobs);
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const Shard shard{whole_number(text.substr(0, slash)),
                    slash < text.size() ? whole_number(text.substr(slash + 1)) : 0};
  if (shard.number >= 1 && shard.number <= shard.count) return shard;
  throw UsageError(fmt::format(
      "--shard is '{}'; it takes a part and how many there are, such as 1/8", text.substr(0, 40)));
}

WarmList read_warm_list(const std::vector<std::string>& paths, const std::vector<Target>& targets,
                        bool allow_source) {
  ListReader reader(targets, allow_source);
  for (const std::string& path : paths) reader.read(path);
  return reader.take();
}

std::vector<PlanFailure> locate_all(const Compiler& compiler, WarmList& list, int threads) {
  std::vector<PlanFailure> failures;
  std::mutex mutex;  // guards failures
  std::atomic<std::size_t> next = 0;
  constexpr std::size_t kAtOnce = 64;
  const auto work = [&] {
    for (std::size_t begin = next.fetch_add(kAtOnce); begin < list.jobs.size();
         begin = next.fetch_add(kAtOnce)) {
      const std::size_t end = std::min(begin + kAtOnce, list.jobs.size());
      for (std::size_t i = begin; i < end; ++i) {
        WarmJob& job = list.jobs[i];
        try {
          job.location = compiler.locate(list.op_of(job), job.target, job.device);
        } catch (const Error& error) {
          const std::lock_guard lock(mutex);
          failures.push_back({job, error.code(), sentence(error)});
        }
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  std::erase_if(list.jobs, [](const WarmJob& job) { return job.location.key.empty(); });
  return failures;
}

void keep_distinct(WarmList& list, const Shard& shard) {
  std::unordered_set<std::string> keys;
  std::size_t number = 0;
  std::erase_if(list.jobs, [&](const WarmJob& job) {
    return !keys.insert(job.location.key).second || number++ % shard.count + 1 != shard.number;
  });
}

}  // namespace tilejit::cli
