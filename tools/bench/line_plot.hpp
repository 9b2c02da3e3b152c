#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tilejit::cli {

/// A line through points of ascending x.
struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool reference = false;  ///< the others are compared with it: grey and dashed
};

/// Lines over numbers, or over names.
struct LinePlot {
  std::string title, subtitle, x_label, y_label;
  bool log_x = false;
  std::vector<std::string> x_names = {};  ///< if not empty, x is 0, 1, ... and stands for these
  std::vector<PlotLine> lines;
};

/// Whether the steps between `values` are more even as factors than as differences; the axis is
/// then logarithmic. `values` ascend.
[[nodiscard]] bool is_geometric(const std::vector<double>& values);

/// The most lines, references included, whose names fit below each other.
inline constexpr std::size_t kMostPlotLines = 20;

/// A picture, dark on white. y starts at 0. The plot has 1 to kMostPlotLines lines, each with at
/// least one point. On a logarithmic axis, every x is above 0.
[[nodiscard]] std::string plot_svg(const LinePlot& plot);

}  // namespace tilejit::cli
