#include "bench/line_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "drawing/svg.hpp"

namespace tilejit::cli {
namespace {

using drawing::Svg;

// Okabe and Ito, "Color Universal Design", 2008, without yellow, which is hard to see on white.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                 "#e69f00", "#56b4e9", "#332288"};
constexpr const char* kReferenceColour = "#777";
constexpr const char* kInk = "#222";
constexpr const char* kTickInk = "#444";

constexpr double kWidth = 880, kHeight = 500;
constexpr double kLeft = 76, kTop = 92, kBottom = 62, kRight = 36;
constexpr double kLetter = 7.0;      // width in the labels' font, on average
constexpr double kLabelHeight = 17;  // between the labels of two lines
constexpr std::size_t kMostTicks = 12;

/// The step of 1, 2 or 5 times a power of ten that gives about six ticks up to `most`.
double tick_step(double most) {
  const double rough = most / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

constexpr double kExact = 0x1p53;

bool is_multiple(double value, double of) {
  return value > 0 && value <= kExact && std::fmod(value, of) == 0;
}

/// The texts of an axis's ticks, all in one form: "1Ki" to "1Mi" if all are multiples of 1024, else
/// the numbers themselves.
std::vector<std::string> tick_texts(const std::vector<double>& ticks) {
  const bool binary =
      std::ranges::all_of(ticks, [](double tick) { return is_multiple(tick, 1024); });
  std::vector<std::string> texts;
  for (const double tick : ticks) {
    const bool mebi = binary && is_multiple(tick, 1 << 20);
    const double shown = !binary ? tick : mebi ? tick / (1 << 20) : tick / 1024;
    const bool whole = shown == std::floor(shown) && std::abs(shown) <= kExact;
    texts.push_back((whole ? fmt::format("{:.0f}", shown) : fmt::format("{:g}", shown)) +
                    (!binary ? ""
                     : mebi  ? "Mi"
                             : "Ki"));
  }
  return texts;
}

/// The positions of all parts of the plot.
class Frame {
 public:
  explicit Frame(const LinePlot& plot) : plot_(plot) {
    std::set<double> values;
    double most = 0;
    std::size_t longest = 0;
    for (const PlotLine& line : plot.lines) {
      longest = std::max(longest, line.name.size());
      for (const auto& [x, y] : line.points) {
        values.insert(x);
        most = std::max(most, y);
      }
    }
    x_values.assign(values.begin(), values.end());
    step = tick_step(most > 0 ? most : 1);
    top_value = step * std::ceil(most / step + 0.05);
    right = kWidth - kRight - kLetter * static_cast<double>(longest) - 14;
    right = std::max(right, kLeft + 300);
    bottom = kHeight - kBottom;
    first_ = scaled(x_values.front());
    last_ = scaled(x_values.back());
  }

  [[nodiscard]] double x(double value) const {
    const double inset = 24;
    if (first_ == last_) return (kLeft + right) / 2;
    return kLeft + inset +
           (scaled(value) - first_) / (last_ - first_) * (right - kLeft - 2 * inset);
  }
  [[nodiscard]] double y(double value) const {
    return bottom - value / top_value * (bottom - kTop);
  }
  /// The values that get a label: all of them; or every second, third, ... if there are many.
  [[nodiscard]] std::vector<double> x_ticks() const {
    const std::size_t every = (x_values.size() + kMostTicks - 1) / kMostTicks;
    std::vector<double> ticks;
    for (std::size_t i = 0; i < x_values.size(); i += every) ticks.push_back(x_values[i]);
    return ticks;
  }

  std::vector<double> x_values;
  double step = 1, top_value = 1, right = 0, bottom = 0;

 private:
  [[nodiscard]] double scaled(double value) const { return plot_.log_x ? std::log2(value) : value; }
  const LinePlot& plot_;
  double first_ = 0, last_ = 0;
};

std::vector<std::string> x_texts(const LinePlot& plot, const std::vector<double>& ticks) {
  if (plot.x_names.empty()) return tick_texts(ticks);
  std::vector<std::string> names;
  for (const double tick : ticks) names.push_back(plot.x_names[static_cast<std::size_t>(tick)]);
  return names;
}

void draw_x_axis(Svg& svg, const LinePlot& plot, const Frame& frame) {
  const std::vector<double> ticks = frame.x_ticks();
  const std::vector<std::string> texts = x_texts(plot, ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double x = frame.x(ticks[i]);
    svg.line({x, frame.bottom}, {x, frame.bottom + 5}, {{"stroke", kInk}});
    svg.text({x, frame.bottom + 20}, texts[i], {{"text-anchor", "middle"}, {"fill", kTickInk}});
  }
  svg.text({(kLeft + frame.right) / 2, kHeight - 14}, plot.x_label,
           {{"text-anchor", "middle"}, {"fill", kInk}});
}

void draw_y_axis(Svg& svg, const LinePlot& plot, const Frame& frame) {
  const auto decimals = frame.step < 1 ? static_cast<int>(std::ceil(-std::log10(frame.step))) : 0;
  for (int i = 0; i * frame.step <= frame.top_value * 1.0001; ++i) {
    const double value = i * frame.step, y = frame.y(value);
    svg.line({kLeft, y}, {frame.right, y}, {{"stroke", i == 0 ? kInk : "#e3e3e3"}});
    svg.text({kLeft - 10, y + 4}, fmt::format("{:.{}f}", value, decimals),
             {{"text-anchor", "end"}, {"fill", kTickInk}});
  }
  svg.text({kLeft - 46, kTop - 14}, plot.y_label, {{"fill", kInk}});
}

struct Style {
  std::string colour, dashes;
};

/// The colours are used in turn; in the second turn, lines are dashed too.
Style style_of(const LinePlot& plot, std::size_t index) {
  if (plot.lines[index].reference) return {kReferenceColour, "6 4"};
  const auto before = static_cast<std::size_t>(std::ranges::count(
      plot.lines.begin(), plot.lines.begin() + static_cast<std::ptrdiff_t>(index), false,
      &PlotLine::reference));
  return {kColours[before % kColours.size()], before < kColours.size() ? "none" : "9 3"};
}

void draw_line(Svg& svg, const PlotLine& line, const Frame& frame, const Style& style) {
  const auto at = [&](const std::pair<double, double>& p) {
    return drawing::Point{frame.x(p.first), frame.y(p.second)};
  };
  drawing::Path path(at(line.points.front()));
  for (std::size_t i = 1; i < line.points.size(); ++i) path.line(at(line.points[i]));
  svg.path(path, {{"stroke", style.colour},
                  {"stroke-width", line.reference ? "1.5" : "2.2"},
                  {"stroke-linejoin", "round"},
                  {"stroke-dasharray", style.dashes}});
  if (line.reference) return;
  for (const auto& point : line.points) {
    svg.circle(at(point), 3.6, {{"fill", style.colour}, {"stroke", "#fff"}});
  }
}

/// Names at the lines' ends, moved apart if they would overlap.
void draw_names(Svg& svg, const LinePlot& plot, const Frame& frame) {
  std::vector<std::pair<double, std::size_t>> places;  // y, line
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    places.emplace_back(frame.y(plot.lines[i].points.back().second), i);
  }
  std::ranges::sort(places);
  double above = kTop - kLabelHeight;
  for (auto& [y, line] : places) above = y = std::max(y, above + kLabelHeight);
  double below = frame.bottom + kLabelHeight;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    below = place->first = std::min(place->first, below - kLabelHeight);
  }
  for (const auto& [y, line] : places) {
    const auto& [end, value] = plot.lines[line].points.back();
    const std::string colour = style_of(plot, line).colour;
    svg.line({frame.x(end) + 6, frame.y(value)}, {frame.right + 6, y},
             {{"stroke", colour}, {"stroke-opacity", "0.45"}});
    svg.text({frame.right + 10, y + 4}, plot.lines[line].name,
             {{"fill", colour}, {"font-weight", "600"}});
  }
}

/// The largest `gap` between neighbours, as a multiple of the smallest.
template <typename Gap>
double unevenness(const std::vector<double>& values, Gap gap) {
  double least = gap(values[0], values[1]), most = least;
  for (std::size_t i = 2; i < values.size(); ++i) {
    const double next = gap(values[i - 1], values[i]);
    least = std::min(least, next);
    most = std::max(most, next);
  }
  return most / least;
}

}  // namespace

bool is_geometric(const std::vector<double>& values) {
  if (values.size() < 3 || values.front() <= 0) return false;
  return unevenness(values, [](double a, double b) { return std::log(b / a); }) <
         unevenness(
             values, [](double a, double b) { return b - a; });
}

std::string plot_svg(const LinePlot& plot) {
  const Frame frame(plot);
  Svg svg({.width = kWidth, .height = kHeight}, plot.title);
  svg.text({kLeft - 46, 28}, plot.title,
           {{"font-size", "17"}, {"font-weight", "700"}, {"fill", "#111"}});
  svg.text({kLeft - 46, 47}, plot.subtitle, {{"fill", "#555"}});
  draw_y_axis(svg, plot, frame);
  draw_x_axis(svg, plot, frame);
  for (const bool reference : {true, false}) {
    for (std::size_t i = 0; i < plot.lines.size(); ++i) {
      if (plot.lines[i].reference != reference) continue;
      draw_line(svg, plot.lines[i], frame, style_of(plot, i));
    }
  }
  draw_names(svg, plot, frame);
  return svg.document();
}

}  // namespace tilejit::cli
