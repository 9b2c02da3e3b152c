// Pictures of graphs: edges stay clear of boxes, and docs/gallery/graph.svg is one of the pictures.
#include "graph/graph_picture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/source_dir.hpp"

namespace tilejit::graph {
namespace {

struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  [[nodiscard]] bool holds(Point p) const {
    return p.x > x && p.x < x + width && p.y > y && p.y < y + height;
  }
};

std::vector<Box> boxes_of(const std::string& svg) {
  const std::regex pattern(R"re(<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)" rx)re");
  std::vector<Box> boxes;
  for (std::sregex_iterator i(svg.begin(), svg.end(), pattern), end; i != end; ++i) {
    boxes.push_back(
        {std::stod((*i)[1]), std::stod((*i)[2]), std::stod((*i)[3]), std::stod((*i)[4])});
  }
  return boxes;
}

Point on_curve(const std::array<Point, 4>& c, double t) {
  const double u = 1 - t;
  const double w[] = {u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t};
  Point p;
  for (std::size_t i = 0; i < 4; ++i) {
    p.x += w[i] * c[i].x;
    p.y += w[i] * c[i].y;
  }
  return p;
}

/// Closely spaced points of a path of M, C and L.
std::vector<Point> points_of(const std::string& path) {
  std::istringstream in(path);
  std::vector<Point> points;
  Point at;
  for (char command = 0; in >> command;) {
    std::array<Point, 4> curve = {at, at, at, at};
    if (command == 'C') in >> curve[1].x >> curve[1].y >> curve[2].x >> curve[2].y;
    in >> curve[3].x >> curve[3].y;
    if (command == 'M') curve[0] = curve[3];
    if (command != 'C') {
      curve[1] = curve[0];
      curve[2] = curve[3];
    }
    for (int i = 0; i <= 64; ++i) points.push_back(on_curve(curve, i / 64.0));
    at = curve[3];
  }
  return points;
}

std::vector<std::string> paths_of(const std::string& svg) {
  const std::regex pattern(R"re(<path d="([^"]*)" fill="none")re");
  std::vector<std::string> paths;
  for (std::sregex_iterator i(svg.begin(), svg.end(), pattern), end; i != end; ++i) {
    paths.push_back((*i)[1]);
  }
  return paths;
}

/// Copies and a fill, three kernels one after the other, and edges past one, two and three rows.
GraphPicture pipeline() {
  return {
      .nodes = {{.label = "copy"},
                {.label = "fill"},
                {.label = "tilejit_softmax_f16", .detail = "4096 x 128 threads", .kernel = true},
                {.label = "tilejit_scale_f16", .detail = "8192 x 256 threads", .kernel = true},
                {.label = "tilejit_add_f16", .detail = "8192 x 256 threads", .kernel = true},
                {.label = "record event"},
                {.label = "join"}},
      .edges = {{.from = 0, .to = 2},
                {.from = 0, .to = 4},
                {.from = 1, .to = 3},
                {.from = 1, .to = 6},
                {.from = 2, .to = 3, .overlapping = true},
                {.from = 2, .to = 6},
                {.from = 3, .to = 4, .overlapping = true},
                {.from = 4, .to = 5},
                {.from = 5, .to = 6}}};
}

TEST(GraphPicture, EdgesGoRoundNodes) {
  const std::string svg = to_svg(pipeline());
  const std::vector<Box> boxes = boxes_of(svg);
  const std::vector<std::string> paths = paths_of(svg);
  ASSERT_EQ(boxes.size(), 7U);
  ASSERT_EQ(paths.size(), 9U);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    for (const Point p : points_of(path)) {
      for (const Box& box : boxes) EXPECT_FALSE(box.holds(p)) << p.x << ' ' << p.y;
    }
  }
}

TEST(GraphPicture, OfNothingIsEmpty) {
  const std::string svg = to_svg({});
  EXPECT_TRUE(boxes_of(svg).empty());
  EXPECT_TRUE(paths_of(svg).empty());
}

TEST(GraphPicture, IsTheOneOfTheGallery) {
  const auto path = test::source_dir() / "docs" / "gallery" / "graph.svg";
  const std::string svg = to_svg(pipeline());
  if (std::getenv("TILEJIT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << svg;
  std::ifstream file(path);
  EXPECT_EQ(svg, std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace
}  // namespace tilejit::graph
