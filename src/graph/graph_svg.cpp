#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graph/graph_picture.hpp"
#include "tilejit/printable.hpp"

namespace tilejit::graph {
namespace {

using Node = GraphPicture::Node;
using Edge = GraphPicture::Edge;

// Pixels.
constexpr int kLetter = 7, kPadding = 12, kBoxHeight = 40, kGap = 24, kRowHeight = 90, kMargin = 16;

struct Box {
  std::size_t row = 0;
  int x = 0, width = 0;
  [[nodiscard]] int y() const { return kMargin + static_cast<int>(row) * kRowHeight; }
  [[nodiscard]] int middle() const { return x + width / 2; }
};

/// Assigns rows by the longest path, in the order of the dependencies (Kahn).
std::vector<Box> place_rows(const GraphPicture& picture) {
  std::vector<Box> boxes(picture.nodes.size());
  std::vector<std::size_t> waiting(boxes.size());
  std::vector<std::vector<std::size_t>> next(boxes.size());
  for (const Edge& edge : picture.edges) {
    ++waiting[edge.to];
    next[edge.from].push_back(edge.to);
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  for (std::size_t done = 0; done < ready.size(); ++done) {
    for (const std::size_t to : next[ready[done]]) {
      boxes[to].row = std::max(boxes[to].row, boxes[ready[done]].row + 1);
      if (--waiting[to] == 0) ready.push_back(to);
    }
  }
  return boxes;
}

/// The mean position of a node's predecessors, so that fewer edges cross.
double wanted_place(const GraphPicture& picture, const std::vector<Box>& boxes, std::size_t node) {
  double sum = 0;
  int count = 0;
  for (const Edge& edge : picture.edges) {
    if (edge.to != node) continue;
    sum += boxes[edge.from].middle();
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

/// Places the boxes of each row side by side; returns the width of the picture.
int place_columns(const GraphPicture& picture, std::vector<Box>& boxes, std::size_t rows) {
  int widest = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (boxes[i].row == row) order.emplace_back(wanted_place(picture, boxes, i), i);
    }
    std::ranges::sort(order);
    int x = kMargin;
    for (const auto& [wanted, i] : order) {
      const Node& node = picture.nodes[i];
      const std::size_t letters = std::max(node.label.size(), node.detail.size());
      boxes[i].x = x;
      boxes[i].width = static_cast<int>(letters) * kLetter + 2 * kPadding;
      x += boxes[i].width + kGap;
    }
    widest = std::max(widest, x - kGap + kMargin);
  }
  return widest;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string draw_box(const Node& node, const Box& box) {
  std::string out = fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{}\" "
      "stroke=\"#333\"/>\n",
      box.x, box.y(), box.width, kBoxHeight, node.kernel ? 2 : 12,
      node.kernel ? "#dcebff" : "#f2f2f2");
  const auto text = [&](const std::string& what, int below) {
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", box.middle(), box.y() + below,
                       escaped(what));
  };
  text(node.label, node.detail.empty() ? 24 : 17);
  if (!node.detail.empty()) text(node.detail, 33);
  return out;
}

std::string draw_edge(const Edge& edge, const std::vector<Box>& boxes) {
  const Box& from = boxes[edge.from];
  const Box& to = boxes[edge.to];
  const int y0 = from.y() + kBoxHeight, y1 = to.y(), bend = (y0 + y1) / 2;
  return fmt::format(
      "<path d=\"M{} {} C{} {} {} {} {} {}\" fill=\"none\" stroke=\"#333\"{} "
      "marker-end=\"url(#arrow)\"/>\n",
      from.middle(), y0, from.middle(), bend, to.middle(), bend, to.middle(), y1 - 2,
      edge.overlapping ? " stroke-dasharray=\"4 3\"" : "");
}

}  // namespace

std::string to_svg(const GraphPicture& picture) {
  std::vector<Box> boxes = place_rows(picture);
  std::size_t rows = 0;
  for (const Box& box : boxes) rows = std::max(rows, box.row + 1);
  const int width = std::max(2 * kMargin, place_columns(picture, boxes, rows));
  const int height = 2 * kMargin + static_cast<int>(rows) * kRowHeight;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\">\n"
      "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#333\"/></marker>\n",
      width, height);
  for (const Edge& edge : picture.edges) out += draw_edge(edge, boxes);
  for (std::size_t i = 0; i < boxes.size(); ++i) out += draw_box(picture.nodes[i], boxes[i]);
  return out + "</svg>\n";
}

}  // namespace tilejit::graph
