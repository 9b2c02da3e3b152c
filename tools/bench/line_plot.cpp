#include "bench/line_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "common/xml_text.hpp"

namespace tilejit::cli {
namespace {

using Out = std::back_insert_iterator<std::string>;

// Okabe and Ito, "Color Universal Design", 2008; yellow left out, which white hides.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                 "#e69f00", "#56b4e9", "#332288"};
constexpr const char* kReferenceColour = "#777777";

constexpr double kWidth = 880, kHeight = 500;
constexpr double kLeft = 76, kTop = 92, kBottom = 62, kRight = 36;
constexpr double kLetter = 7.0;      // of the labels' font, on average
constexpr double kLabelHeight = 17;  // between labels of lines
constexpr std::size_t kMostTicks = 12;

/// The step of 1, 2 or 5 times a power of ten that gives about six ticks up to `most`.
double tick_step(double most) {
  const double rough = most / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

/// "4096", "16K" for 16384, "1M" for 1048576; powers of two of a large number are read as such.
std::string x_text(double value) {
  constexpr double kExact = 0x1p53;
  const auto whole = static_cast<std::int64_t>(std::clamp(value, -kExact, kExact));
  const bool is_whole = static_cast<double>(whole) == value;
  if (is_whole && whole >= 1 << 20 && whole % (1 << 20) == 0) {
    return fmt::format("{}Mi", whole >> 20);
  }
  if (is_whole && whole >= 1 << 14 && whole % 1024 == 0) return fmt::format("{}Ki", whole >> 10);
  return is_whole ? fmt::format("{}", whole) : fmt::format("{:g}", value);
}

/// Where things are.
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
  /// Values that get a label: all, or every second, third, ... of many.
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

void text(Out out, double x, double y, const std::string& style, const std::string& content) {
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, style,
                 escaped_xml(content));
}

void draw_axes(Out out, const LinePlot& plot, const Frame& frame) {
  const auto decimals = frame.step < 1 ? static_cast<int>(std::ceil(-std::log10(frame.step))) : 0;
  for (int i = 0; i * frame.step <= frame.top_value * 1.0001; ++i) {
    const double value = i * frame.step, y = frame.y(value);
    fmt::format_to(
        out, "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
        kLeft, y, frame.right, y, i == 0 ? "#333333" : "#e3e3e3");
    text(out, kLeft - 10, y + 4, " text-anchor=\"end\" fill=\"#444444\"",
         fmt::format("{:.{}f}", value, decimals));
  }
  for (const double value : frame.x_ticks()) {
    const double x = frame.x(value);
    fmt::format_to(
        out,
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#333333\"/>\n",
        x, frame.bottom, frame.bottom + 5);
    const std::string name =
        plot.x_names.empty() ? x_text(value) : plot.x_names[static_cast<std::size_t>(value)];
    text(out, x, frame.bottom + 20, " text-anchor=\"middle\" fill=\"#444444\"", name);
  }
  text(out, (kLeft + frame.right) / 2, kHeight - 14, " text-anchor=\"middle\" fill=\"#222222\"",
       plot.x_label);
  text(out, kLeft - 46, kTop - 14, " fill=\"#222222\"", plot.y_label);
}

struct Style {
  std::string colour;
  std::string dashes;  // an attribute, or nothing
};

/// Colours in turn; the second turn is dashed too.
Style style_of(const LinePlot& plot, std::size_t index) {
  if (plot.lines[index].reference) return {kReferenceColour, " stroke-dasharray=\"6 4\""};
  const auto before = static_cast<std::size_t>(std::ranges::count(
      plot.lines.begin(), plot.lines.begin() + static_cast<std::ptrdiff_t>(index), false,
      &PlotLine::reference));
  return {kColours[before % kColours.size()],
          before < kColours.size() ? "" : " stroke-dasharray=\"9 3\""};
}

void draw_line(Out out, const PlotLine& line, const Frame& frame, const Style& style) {
  std::string path;
  for (const auto& [x, y] : line.points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", frame.x(x), frame.y(y));
  }
  fmt::format_to(out,
                 "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\""
                 " stroke-linejoin=\"round\"{}/>\n",
                 path, style.colour, line.reference ? "1.5" : "2.2", style.dashes);
  if (line.reference) return;
  for (const auto& [x, y] : line.points) {
    fmt::format_to(out,
                   "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.6\" fill=\"{}\" stroke=\"#ffffff\""
                   " stroke-width=\"1\"/>\n",
                   frame.x(x), frame.y(y), style.colour);
  }
}

/// Names at the lines' ends, moved apart where they would lie on each other.
void draw_names(Out out, const LinePlot& plot, const Frame& frame) {
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
    const double end = frame.x(plot.lines[line].points.back().first);
    const std::string colour = style_of(plot, line).colour;
    fmt::format_to(out,
                   "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\""
                   " stroke-opacity=\"0.45\"/>\n",
                   end + 6, frame.y(plot.lines[line].points.back().second), frame.right + 6, y,
                   colour);
    text(out, frame.right + 10, y + 4, fmt::format(" fill=\"{}\" font-weight=\"600\"", colour),
         plot.lines[line].name);
  }
}

/// The most that neighbours differ, as a multiple of the least, by `gap`.
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
  std::string svg;
  const Out out = std::back_inserter(svg);
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                 "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" "
                 "font-size=\"13\">\n<title>{2}</title>\n"
                 "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
                 kWidth, kHeight, escaped_xml(plot.title));
  text(out, kLeft - 46, 28, " font-size=\"17\" font-weight=\"700\" fill=\"#111111\"", plot.title);
  text(out, kLeft - 46, 47, " fill=\"#555555\"", plot.subtitle);
  draw_axes(out, plot, frame);
  for (const bool reference : {true, false}) {
    for (std::size_t i = 0; i < plot.lines.size(); ++i) {
      if (plot.lines[i].reference != reference) continue;
      draw_line(out, plot.lines[i], frame, style_of(plot, i));
    }
  }
  draw_names(out, plot, frame);
  return svg + "</svg>\n";
}

}  // namespace tilejit::cli
