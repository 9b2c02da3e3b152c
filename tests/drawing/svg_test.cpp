#include "drawing/svg.hpp"

#include <gtest/gtest.h>

namespace tilejit::drawing {
namespace {

TEST(Svg, WritesShapesInTheirOrder) {
  Svg svg({.width = 40, .height = 20.5, .font = Svg::Font::mono}, "a<b");
  svg.rectangle({1, 2, 3, 4.25}, {{"fill", "#fff"}, {"rx", "2"}});
  svg.line({0, 0}, {1, -0.01}, {});
  svg.circle({5, 6}, 1.5, {});
  svg.path(Path({0, 0}).line({1, 0}).curve({1, 1}, {2, 1}, {2, 2}), {{"stroke", "#000"}});
  svg.text({3, 4}, "x & \"y\"", {{"fill", "red"}});
  EXPECT_EQ(svg.document(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20.5\" "
            "viewBox=\"0 0 40 20.5\" font-family=\"monospace\" font-size=\"13\">\n"
            "<title>a&lt;b</title>\n"
            "<rect width=\"40\" height=\"20.5\" fill=\"#fff\"/>\n"
            "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4.2\" fill=\"#fff\" rx=\"2\"/>\n"
            "<line x1=\"0\" y1=\"0\" x2=\"1\" y2=\"0\"/>\n"
            "<circle cx=\"5\" cy=\"6\" r=\"1.5\"/>\n"
            "<path d=\"M0 0 L1 0 C1 1 2 1 2 2\" fill=\"none\" stroke=\"#000\"/>\n"
            "<text x=\"3\" y=\"4\" fill=\"red\">x &amp; &quot;y&quot;</text>\n"
            "</svg>\n");
}

TEST(Svg, NumbersHaveOneDigitAtMost) {
  struct Row {
    double value;
    const char* text;
  };
  constexpr Row kRows[] = {{0, "0"},   {-0.0, "0"}, {-0.04, "0"},   {1.06, "1.1"},
                           {12, "12"}, {3.96, "4"}, {-2.5, "-2.5"}, {1e6, "1000000"}};
  for (const Row& row : kRows) EXPECT_EQ(number(row.value), row.text);
}

TEST(Svg, TextOfOthersStaysText) {
  EXPECT_EQ(escaped_xml("<a b=\"c\">&\x01\xff"), "&lt;a b=&quot;c&quot;&gt;&amp;??");
}

}  // namespace
}  // namespace tilejit::drawing
