#include "bench/bench_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "common/command.hpp"
#include "kernels/bindings.hpp"

namespace tilejit::cli {
namespace {

/// The values of each axis, in the order of their first row.
std::vector<Axis> axes_of_rows(const BenchRun& run) {
  std::vector<Axis> axes;
  for (const BenchRow& row : run.rows) {
    for (const auto& [name, value] : row.point) {
      auto axis = std::ranges::find(axes, name, &Axis::name);
      if (axis == axes.end()) axis = axes.insert(axes.end(), Axis{.name = name, .values = {}});
      if (std::ranges::count(axis->values, value) == 0) axis->values.push_back(value);
    }
  }
  return axes;
}

Axis choose_axis(const BenchRun& run) {
  std::vector<Axis> axes = axes_of_rows(run);
  std::erase_if(axes, [](const Axis& axis) { return axis.values.size() < 2; });
  if (axes.empty()) {
    throw UsageError("a plot needs an axis of several values, as --axis M=1024,4096 gives");
  }
  const auto numbers =
      std::ranges::find_if(axes, [](const Axis& axis) { return axis.name != "dtype"; });
  return numbers == axes.end() ? axes.front() : *numbers;
}

/// The name of a row's line, and the row's value of `axis`; std::nullopt if it has no such value.
struct Place {
  std::string line;
  std::string value;
};
std::optional<Place> place_of(const BenchRow& row, const Axis& axis, bool several_kernels) {
  Place place{.line = several_kernels ? row.kernel : "", .value = {}};
  for (const auto& [name, value] : row.point) {
    if (name == axis.name) {
      place.value = value;
      continue;
    }
    if (!place.line.empty()) place.line += ' ';
    place.line += name == "dtype" ? value : fmt::format("{}={}", name, value);
  }
  if (place.value.empty()) return std::nullopt;
  if (place.line.empty()) place.line = row.kernel;
  return place;
}

double x_of(const Axis& axis, const std::string& value) {
  if (axis.name != "dtype") return static_cast<double>(parse_count(value, "axis " + axis.name));
  return static_cast<double>(std::ranges::find(axis.values, value) - axis.values.begin());
}

std::string title_of(const BenchRun& run) {
  std::vector<std::string> kernels;
  for (const BenchRow& row : run.rows) {
    if (std::ranges::count(kernels, row.kernel) == 0) kernels.push_back(row.kernel);
  }
  constexpr std::size_t kMost = 4;
  std::string title;
  for (std::size_t i = 0; i < std::min(kernels.size(), kMost); ++i) {
    title += (i == 0 ? "" : ", ") + kernels[i];
  }
  if (kernels.size() > kMost) title += fmt::format(" and {} more", kernels.size() - kMost);
  return title;
}

}  // namespace

LinePlot bench_plot(const BenchRun& run) {
  const Axis axis = choose_axis(run);
  const bool several = std::ranges::any_of(
      run.rows, [&](const BenchRow& row) { return row.kernel != run.rows.front().kernel; });
  std::vector<std::string> order;  // of lines
  std::map<std::string, std::map<double, double>> lines;
  std::map<double, double> copy;
  for (const BenchRow& row : run.rows) {
    const auto place = place_of(row, axis, several);
    if (!place) continue;
    const double x = x_of(axis, place->value);
    if (!lines.contains(place->line)) order.push_back(place->line);
    lines[place->line][x] = row.result.gigabytes_per_second();
    copy[x] = std::max(copy[x], row.result.ceilings.copy);
  }
  LinePlot plot{.title = title_of(run),
                .subtitle = fmt::format("{} ({}), timed in a {}, L2 {}", run.device, run.target,
                                        to_string(run.timed_in), to_string(run.l2)),
                .x_label = axis.name,
                .y_label = "GB/s",
                .lines = {}};
  plot.lines.push_back({"copy", {copy.begin(), copy.end()}, true});
  for (const std::string& name : order) {
    plot.lines.push_back({name, {lines[name].begin(), lines[name].end()}});
  }
  if (plot.lines.size() > kMostPlotLines) {
    throw UsageError(fmt::format(
        "a plot of {} lines could not be read; plot fewer kernels or values of other axes than {}",
        plot.lines.size(), axis.name));
  }
  if (axis.name == "dtype") {
    plot.x_names = axis.values;
    return plot;
  }
  std::vector<double> values;
  for (const auto& [x, speed] : copy) values.push_back(x);
  plot.log_x = is_geometric(values);
  return plot;
}

}  // namespace tilejit::cli
