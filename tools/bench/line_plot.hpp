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
  bool reference = false;  ///< what the others are held against: grey and dashed
};

/// Lines over numbers, or over names.
struct LinePlot {
  std::string title, subtitle, x_label, y_label;
  bool log_x = false;
  std::vector<std::string> x_names = {};  ///< x is 0, 1, ... and stands for these, if there are any
  std::vector<PlotLine> lines;
};

/// Whether steps are more even as factors than as differences: the axis is then drawn
/// logarithmically. `values` ascend.
[[nodiscard]] bool is_geometric(const std::vector<double>& values);

/// Lines, references among them, whose names fit beside each other.
inline constexpr std::size_t kMostPlotLines = 20;

/// A picture, dark on white. y starts at 0. One line to kMostPlotLines, each with a point; x above
/// 0 where it is logarithmic.
[[nodiscard]] std::string plot_svg(const LinePlot& plot);

}  // namespace tilejit::cli
