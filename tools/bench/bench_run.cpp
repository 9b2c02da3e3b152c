#include "bench/bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/command.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

constexpr int kVersion = 1;  // of the document

/// The names of all axes, in the order in which rows have them.
std::vector<std::string> axis_names(const BenchRun& run) {
  std::vector<std::string> names;
  for (const BenchRow& row : run.rows) {
    for (const auto& [name, value] : row.point) {
      if (std::ranges::count(names, name) == 0) names.push_back(name);
    }
  }
  return names;
}

/// A row's value of each axis; empty if it has no such value.
std::vector<std::string> axis_values(const BenchRow& row, const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(row.point, name, &Point::value_type::first);
    values.push_back(found == row.point.end() ? "" : found->second);
  }
  return values;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    line += csv_field(field);
  }
  return line + "\r\n";
}

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

ordered_json time_json(const TimeSummary& time) {
  return {{"samples", time.samples}, {"launches", time.launches}, {"min_ms", time.min_ms},
          {"p10_ms", time.p10_ms},   {"p25_ms", time.p25_ms},     {"median_ms", time.median_ms},
          {"p75_ms", time.p75_ms},   {"p90_ms", time.p90_ms},     {"p99_ms", time.p99_ms},
          {"max_ms", time.max_ms},   {"low_ms", time.low_ms},     {"high_ms", time.high_ms},
          {"noisy", time.noisy}};
}

TimeSummary read_time(const ordered_json& json) {
  const auto ms = [&](const char* name) { return json.at(name).get<double>(); };
  return {.samples = json.at("samples").get<int>(),
          .launches = json.at("launches").get<int>(),
          .min_ms = ms("min_ms"),
          .p10_ms = ms("p10_ms"),
          .p25_ms = ms("p25_ms"),
          .median_ms = ms("median_ms"),
          .p75_ms = ms("p75_ms"),
          .p90_ms = ms("p90_ms"),
          .p99_ms = ms("p99_ms"),
          .max_ms = ms("max_ms"),
          .low_ms = ms("low_ms"),
          .high_ms = ms("high_ms"),
          .noisy = json.at("noisy").get<bool>()};
}

ordered_json kernel_json(const KernelInfo& kernel) {
  return {{"registers", kernel.registers},
          {"local_bytes", kernel.local_bytes},
          {"shared_bytes", kernel.shared_bytes},
          {"threads", kernel.threads},
          {"blocks_per_sm", kernel.blocks_per_sm}};
}

KernelInfo read_kernel(const ordered_json& json) {
  const auto of = [&](const char* name) { return json.at(name).get<int>(); };
  return {.registers = of("registers"),
          .local_bytes = of("local_bytes"),
          .shared_bytes = of("shared_bytes"),
          .threads = of("threads"),
          .blocks_per_sm = of("blocks_per_sm")};
}

ordered_json row_json(const BenchRow& row) {
  const BenchmarkResult& result = row.result;
  ordered_json axes = ordered_json::object();
  for (const auto& [name, value] : row.point) axes[name] = value;
  return {{"kernel", row.kernel},
          {"axes", std::move(axes)},
          {"time", time_json(result.time)},
          {"bytes", result.work.bytes},
          {"operations", result.work.operations},
          {"gigabytes_per_second", result.gigabytes_per_second()},
          {"teraflops", result.teraflops()},
          {"copy_gigabytes_per_second", result.ceilings.copy},
          {"read_gigabytes_per_second", result.ceilings.read},
          {"percent_of_copy", result.percent_of_copy()},
          {"percent_of_read", result.percent_of_read()},
          {"peak_teraflops", result.ceilings.multiply},
          {"percent_of_peak", result.percent_of_peak()},
          {"resources", kernel_json(result.kernel)},
          {"occupancy", result.occupancy},
          {"bytes_in_flight_needed", result.in_flight.needed},
          {"bytes_in_flight_issued", result.in_flight.issued},
          {"workspaces", row.workspaces},
          {"cold", row.cold}};
}

BenchRow read_row(const ordered_json& json) {
  BenchRow row{.kernel = json.at("kernel").get<std::string>(), .point = {}, .result = {}};
  for (const auto& [name, value] : json.at("axes").items()) {
    row.point.emplace_back(name, value.get<std::string>());
  }
  const auto real = [&](const char* name) { return json.at(name).get<double>(); };
  row.result.time = read_time(json.at("time"));
  row.result.work = {json.at("bytes").get<std::int64_t>(),
                     json.at("operations").get<std::int64_t>()};
  row.result.ceilings = {.copy = real("copy_gigabytes_per_second"),
                         .read = real("read_gigabytes_per_second"),
                         .multiply = json.value("peak_teraflops", 0.0)};
  row.result.kernel = read_kernel(json.at("resources"));
  row.result.occupancy = real("occupancy");
  row.result.in_flight = {real("bytes_in_flight_needed"), real("bytes_in_flight_issued")};
  row.workspaces = json.at("workspaces").get<std::size_t>();
  row.cold = json.at("cold").get<bool>();
  return row;
}

BenchRun read_run(const ordered_json& json) {
  if (json.at("tilejit_bench") != kVersion) throw UsageError("its version is not 1");
  const auto one_of = [&](const char* name, const char* first, const char* second) {
    const auto text = json.at(name).get<std::string>();
    if (text == first) return true;
    if (text == second) return false;
    throw UsageError(fmt::format("{} is neither {} nor {}", name, first, second));
  };
  BenchRun run{.device = json.at("device").get<std::string>(),
               .target = json.at("target").get<std::string>(),
               .timed_in = one_of("timed_in", "stream", "graph") ? TimedIn::stream : TimedIn::graph,
               .l2 = one_of("l2", "cold", "warm") ? L2State::cold : L2State::warm,
               .rows = {}};
  for (const ordered_json& row : json.at("rows")) run.rows.push_back(read_row(row));
  return run;
}

bool multiplies(const BenchRow& row) {
  return row.result.ceilings.multiply > 0;
}

/// `peak`: the table has that column.
std::vector<std::string> table_line(const BenchRow& row, std::vector<std::string> line, bool peak) {
  const BenchmarkResult& result = row.result;
  const TimeSummary& time = result.time;
  line.push_back(fmt::format("{:.2f}", time.median_ms * 1e3));
  line.push_back(fmt::format("{:.2f}{}", 100 * time.relative_error(), time.noisy ? " !" : ""));
  line.push_back(fmt::format("{:.2f}", time.p90_ms * 1e3));
  line.push_back(std::to_string(time.samples));
  line.push_back(fmt::format("{:.0f}", result.gigabytes_per_second()));
  line.push_back(fmt::format("{:.1f}", result.percent_of_copy()));
  line.push_back(fmt::format("{:.1f}", result.percent_of_read()));
  line.push_back(fmt::format("{:.3g}", result.teraflops()));
  if (peak) line.push_back(multiplies(row) ? fmt::format("{:.1f}", result.percent_of_peak()) : "");
  line.push_back(fmt::format("{:.0f}", 100 * result.occupancy));
  line.push_back(
      fmt::format("{:.1f}/{:.1f}", result.in_flight.issued / 1e3, result.in_flight.needed / 1e3));
  return line;
}

}  // namespace

std::string_view to_string(TimedIn timed_in) noexcept {
  return timed_in == TimedIn::stream ? "stream" : "graph";
}

std::string_view to_string(L2State l2) noexcept {
  return l2 == L2State::cold ? "cold" : "warm";
}

std::string columns_text(const std::vector<std::vector<std::string>>& lines, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < line.size(); ++c) {
      row += fmt::format(fmt::runtime(c < left ? "{:<{}}  " : "{:>{}}  "), line[c], widths[c]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

std::string bench_table(const BenchRun& run) {
  const std::vector<std::string> axes = axis_names(run);
  std::vector<std::string> head = {"kernel"};
  head.insert(head.end(), axes.begin(), axes.end());
  const bool peak = std::ranges::any_of(run.rows, multiplies);
  for (const char* name : {"us", "+- %", "p90 us", "samples", "GB/s", "% copy", "% read", "TFLOP/s",
                           "% peak", "occ %", "KB in flight"}) {
    if (peak || name != std::string_view("% peak")) head.emplace_back(name);
  }
  std::vector<std::vector<std::string>> lines = {head};
  for (const BenchRow& row : run.rows) {
    std::vector<std::string> line = {row.kernel};
    std::ranges::move(axis_values(row, axes), std::back_inserter(line));
    lines.push_back(table_line(row, std::move(line), peak));
  }
  std::string text = fmt::format("{} ({}), timed in a {}, L2 {}\n", run.device, run.target,
                                 to_string(run.timed_in), to_string(run.l2));
  text += columns_text(lines, 1);
  const auto noisy = [](const BenchRow& row) { return row.result.time.noisy; };
  if (std::ranges::any_of(run.rows, noisy)) {
    text += "!: noisy, the median's 95 % confidence interval is wider than asked for\n";
  }
  const auto stayed = [&](const BenchRow& row) { return run.l2 == L2State::cold && !row.cold; };
  if (std::ranges::any_of(run.rows, stayed)) {
    text += "some workspaces do not exceed the L2 cache twice: their data may have stayed in it\n";
  }
  return text;
}

std::string bench_csv(const BenchRun& run) {
  const std::vector<std::string> axes = axis_names(run);
  std::vector<std::string> head = {"device", "timed_in", "l2", "kernel"};
  head.insert(head.end(), axes.begin(), axes.end());
  for (const char* name : {"median_us",
                           "low_us",
                           "high_us",
                           "min_us",
                           "p90_us",
                           "p99_us",
                           "samples",
                           "launches",
                           "noisy",
                           "cold",
                           "bytes",
                           "operations",
                           "gigabytes_per_second",
                           "teraflops",
                           "percent_of_copy",
                           "percent_of_read",
                           "percent_of_peak",
                           "registers",
                           "occupancy",
                           "bytes_in_flight_needed",
                           "bytes_in_flight_issued"}) {
    head.emplace_back(name);
  }
  std::string text = csv_line(head);
  for (const BenchRow& row : run.rows) {
    const BenchmarkResult& result = row.result;
    const TimeSummary& time = result.time;
    std::vector<std::string> line = {run.device, std::string(to_string(run.timed_in)),
                                     std::string(to_string(run.l2)), row.kernel};
    std::ranges::move(axis_values(row, axes), std::back_inserter(line));
    for (const double ms :
         {time.median_ms, time.low_ms, time.high_ms, time.min_ms, time.p90_ms, time.p99_ms}) {
      line.push_back(number(ms * 1e3));
    }
    for (const std::int64_t whole :
         {std::int64_t{time.samples}, std::int64_t{time.launches}, std::int64_t{time.noisy},
          std::int64_t{row.cold}, result.work.bytes, result.work.operations}) {
      line.push_back(std::to_string(whole));
    }
    for (const double real :
         {result.gigabytes_per_second(), result.teraflops(), result.percent_of_copy(),
          result.percent_of_read(), result.percent_of_peak(),
          static_cast<double>(result.kernel.registers), result.occupancy, result.in_flight.needed,
          result.in_flight.issued}) {
      line.push_back(number(real));
    }
    text += csv_line(line);
  }
  return text;
}

std::string bench_json(const BenchRun& run) {
  ordered_json rows = ordered_json::array();
  for (const BenchRow& row : run.rows) rows.push_back(row_json(row));
  const ordered_json document = {{"tilejit_bench", kVersion}, {"device", run.device},
                                 {"target", run.target},      {"timed_in", to_string(run.timed_in)},
                                 {"l2", to_string(run.l2)},   {"rows", std::move(rows)}};
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

BenchRun read_bench(std::string_view json, const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format(
        "{} is no document that tilejit bench --json wrote: {}; measure again", file, why));
  };
  try {
    return read_run(ordered_json::parse(json));
  } catch (const ordered_json::exception& error) {
    const std::string_view text = error.what();  // "[json.exception...] what is wrong"
    const std::size_t prefix = text.find("] ");
    refuse(std::string(prefix == std::string_view::npos ? text : text.substr(prefix + 2)));
  } catch (const UsageError& error) {
    refuse(error.what());
  }
  return {};
}

}  // namespace tilejit::cli
