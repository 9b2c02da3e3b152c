#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "common/sentence.hpp"
#include "kernels/report.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/error.hpp"
#include "tilejit/runtime.hpp"
#include "tilejit/version.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

ordered_json nvrtc_json(const Options& options) {
  try {
    const NvrtcInfo info = Compiler(options).nvrtc();
    auto supported = ordered_json::array();
    for (const int number : info.supported) supported.push_back(fmt::format("sm_{}", number));
    return {{"found", true},
            {"path", info.path},
            {"version", info.version},
            {"build", info.build},
            {"supported", std::move(supported)}};
  } catch (const Error& error) {
    return {{"found", false}, {"reason", sentence(error)}};
  }
}

ordered_json driver_json() {
  try {
    const DriverInfo info = query_driver();
    auto devices = ordered_json::array();
    for (const DeviceInfo& device : info.devices) {
      devices.push_back({{"ordinal", device.ordinal},
                         {"name", device.name},
                         {"target", to_string(device.target)},
                         {"multiprocessors", device.multiprocessors},
                         {"memory_bytes", device.memory_bytes},
                         {"l2_bytes", device.l2_bytes}});
    }
    return {{"found", true}, {"version", info.version}, {"devices", std::move(devices)}};
  } catch (const Error& error) {
    return {{"found", false}, {"reason", sentence(error)}};
  }
}

ordered_json cache_json(const Options& options) {
  if (!options.cache_folder) {
    return {{"folder", nullptr}, {"writable", false}, {"reason", "kept in memory only"}};
  }
  try {
    check_writable(*options.cache_folder);
    return {{"folder", options.cache_folder->string()}, {"writable", true}};
  } catch (const Failure& failure) {
    return {{"folder", options.cache_folder->string()},
            {"writable", false},
            {"reason", failure.what()}};
  }
}

ordered_json diagnose() {
  const Options options = Options::from_env();
  return {{"tilejit", version()},
          {"nvrtc", nvrtc_json(options)},
          {"driver", driver_json()},
          {"cache", cache_json(options)}};
}

std::string nvrtc_text(const ordered_json& nvrtc) {
  if (!nvrtc["found"]) return "missing: " + nvrtc["reason"].get<std::string>();
  return fmt::format(
      "{} at {}, {} to {}", nvrtc["version"].get<std::string>(), nvrtc["path"].get<std::string>(),
      nvrtc["supported"].front().get<std::string>(), nvrtc["supported"].back().get<std::string>());
}

std::string driver_text(const ordered_json& driver) {
  if (!driver["found"]) return "missing: " + driver["reason"].get<std::string>();
  const int number = driver["version"].get<int>();
  std::string text = fmt::format("CUDA {}.{}, {} devices", number / 1000, number % 1000 / 10,
                                 driver["devices"].size());
  for (const auto& device : driver["devices"]) {
    fmt::format_to(std::back_inserter(text), "\n          {}: {}, {}, {}",
                   device["ordinal"].get<int>(), device["name"].get<std::string>(),
                   device["target"].get<std::string>(),
                   bytes_text(device["memory_bytes"].get<double>()));
  }
  return text;
}

std::string cache_text(const ordered_json& cache) {
  if (!cache["writable"]) return cache["reason"].get<std::string>();
  return cache["folder"].get<std::string>() + ", writable";
}

std::string verdict(const ordered_json& report) {
  if (!report["nvrtc"]["found"]) {
    return "cannot compile: install NVRTC of CUDA 12.8 or later, as its line above says";
  }
  const bool gpu = report["driver"]["found"] && !report["driver"]["devices"].empty();
  return gpu ? "can compile and launch"
             : "can compile; without a GPU, specs run on the CPU reference";
}

void doctor(bool as_json) {
  const ordered_json report = diagnose();
  if (as_json) {
    fmt::print("{}\n", report.dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    fmt::print("tilejit   {}\nNVRTC     {}\ndriver    {}\ncache     {}\nverdict   {}\n",
               report["tilejit"].get<std::string>(), nvrtc_text(report["nvrtc"]),
               driver_text(report["driver"]), cache_text(report["cache"]), verdict(report));
  }
  if (!report["nvrtc"]["found"]) throw Failure(verdict(report));
}

}  // namespace

Options options_from_env(bool untuned) {
  Options options = Options::from_env();
  if (untuned) options.tuning_file.reset();
  return options;
}

Target default_target() {
  try {
    const DriverInfo info = query_driver();
    if (!info.devices.empty()) return info.devices.front().target;
  } catch (const Error&) {
    // A missing driver is no fault here: the default serves machines that only compile.
  }
  return Target{};
}

void add_doctor(CLI::App& app) {
  CLI::App* command = app.add_subcommand("doctor", "Say what was found where, and what to install");
  auto as_json = std::make_shared<bool>(false);
  add_json(*command, *as_json, "doctor");
  command->footer(
      "Exit code 0 if kernels can be compiled. Examples:\n  tilejit doctor\n  tilejit doctor "
      "--json");
  command->callback([as_json] { doctor(*as_json); });
}

}  // namespace tilejit::cli
