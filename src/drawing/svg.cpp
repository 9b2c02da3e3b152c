#include "drawing/svg.hpp"

#include <fmt/format.h>

#include "tilejit/printable.hpp"

namespace tilejit::drawing {
namespace {

std::string point(Point p) {
  return number(p.x) + ' ' + number(p.y);
}

void add(std::string& text, Attributes attributes) {
  for (const auto& [name, value] : attributes) text += fmt::format(" {}=\"{}\"", name, value);
}

}  // namespace

std::string escaped_xml(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

Path::Path(Point start) : text_('M' + point(start)) {}

Path& Path::line(Point to) {
  text_ += " L" + point(to);
  return *this;
}

Path& Path::curve(Point first, Point second, Point to) {
  text_ += " C" + point(first) + ' ' + point(second) + ' ' + point(to);
  return *this;
}

Svg::Svg(const Page& page, std::string_view title) {
  const std::string width = number(page.width), height = number(page.height);
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"{2}\" font-size=\"{3}\">\n<title>{4}</title>\n",
      width, height, page.font == Font::mono ? "monospace" : "Helvetica, Arial, sans-serif",
      page.font_size, escaped_xml(title));
  element("rect", {{"width", width}, {"height", height}}, {{"fill", "#fff"}});
}

void Svg::element(std::string_view name, Attributes places, Attributes attributes) {
  text_ += fmt::format("<{}", name);
  add(text_, places);
  add(text_, attributes);
  text_ += "/>\n";
}

void Svg::rectangle(const Box& box, Attributes attributes) {
  element("rect",
          {{"x", number(box.x)},
           {"y", number(box.y)},
           {"width", number(box.width)},
           {"height", number(box.height)}},
          attributes);
}

void Svg::line(Point from, Point to, Attributes attributes) {
  element(
      "line",
      {{"x1", number(from.x)}, {"y1", number(from.y)}, {"x2", number(to.x)}, {"y2", number(to.y)}},
      attributes);
}

void Svg::circle(Point centre, double radius, Attributes attributes) {
  element("circle", {{"cx", number(centre.x)}, {"cy", number(centre.y)}, {"r", number(radius)}},
          attributes);
}

void Svg::path(const Path& path, Attributes attributes) {
  element("path", {{"d", path.text()}, {"fill", "none"}}, attributes);
}

void Svg::text(Point at, std::string_view content, Attributes attributes) {
  text_ += fmt::format("<text x=\"{}\" y=\"{}\"", number(at.x), number(at.y));
  add(text_, attributes);
  text_ += '>' + escaped_xml(content) + "</text>\n";
}

void Svg::define_arrow(std::string_view colour) {
  text_ += fmt::format(
      "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"{}\"/></marker>\n",
      colour);
}

}  // namespace tilejit::drawing
