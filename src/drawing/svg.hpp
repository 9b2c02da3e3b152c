#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tilejit::drawing {

/// `text` as it stands in an XML element or attribute.
[[nodiscard]] std::string escaped_xml(std::string_view text);
/// A coordinate or length: at most one digit after the point.
[[nodiscard]] std::string number(double value);

struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};
/// Its value is written as it is; what comes from outside goes through escaped_xml.
struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

/// Bezier curves one behind the other, or straight lines.
class Path {
 public:
  explicit Path(Point start);
  Path& line(Point to);
  /// With the control points `first` and `second`.
  Path& curve(Point first, Point second, Point to);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// The one writer of pictures: shapes in pixels on white, in the order in which they are drawn.
class Svg {
 public:
  enum class Font { sans, mono };
  struct Page {
    double width = 0, height = 0;
    Font font = Font::sans;
    int font_size = 13;
  };

  Svg(const Page& page, std::string_view title);

  void rectangle(const Box& box, Attributes attributes);
  void line(Point from, Point to, Attributes attributes);
  void circle(Point centre, double radius, Attributes attributes);
  void path(const Path& path, Attributes attributes);
  /// `at` is the base line's start, or its middle or end by text-anchor.
  void text(Point at, std::string_view content, Attributes attributes = {});
  /// The marker "arrow", for marker-end.
  void define_arrow(std::string_view colour);

  /// The document.
  [[nodiscard]] std::string document() const { return text_ + "</svg>\n"; }

 private:
  void element(std::string_view name, Attributes places, Attributes attributes);
  std::string text_;
};

}  // namespace tilejit::drawing
