#include <algorithm>
#include <cstdint>
#include <iterator>

#include "drawing/svg.hpp"
#include "graph/graph_picture.hpp"

namespace tilejit::graph {
namespace {

using Node = GraphPicture::Node;
using Edge = GraphPicture::Edge;

// Pixels.
constexpr int kLetter = 7, kPadding = 12, kBoxHeight = 40, kGap = 24, kRowHeight = 90, kMargin = 16;
constexpr int kLane = 16;  // width of what an edge takes in a row that it passes
constexpr const char* kInk = "#333";

/// A node, or the place where a long edge passes a row.
struct Slot {
  std::size_t row = 0;
  int width = 0;
  std::vector<std::size_t> above = {}, below = {};  // slots of the rows before and after, by edges
  int x = 0;
  [[nodiscard]] int top() const { return kMargin + static_cast<int>(row) * kRowHeight; }
  [[nodiscard]] int middle() const { return x + width / 2; }
};

/// A graph as it is drawn: the slots of the nodes, then those of the edges.
struct Sketch {
  std::vector<Slot> slots;
  std::vector<std::vector<std::size_t>> routes;  // of each edge: its slots from row to row
  std::vector<std::vector<std::size_t>> rows;    // slots, from left to right
  int width = 2 * kMargin;
};

/// A node's row is the length of the longest path to it (Kahn).
std::vector<std::size_t> rows_of_nodes(const GraphPicture& picture) {
  const std::size_t count = picture.nodes.size();
  std::vector<std::size_t> rows(count), waiting(count), ready;
  std::vector<std::vector<std::size_t>> next(count);
  for (const Edge& edge : picture.edges) {
    ++waiting[edge.to];
    next[edge.from].push_back(edge.to);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  for (std::size_t done = 0; done < ready.size(); ++done) {
    for (const std::size_t to : next[ready[done]]) {
      rows[to] = std::max(rows[to], rows[ready[done]] + 1);
      if (--waiting[to] == 0) ready.push_back(to);
    }
  }
  return rows;
}

int width_of(const Node& node) {
  const std::size_t letters = std::max(node.label.size(), node.detail.size());
  return static_cast<int>(letters) * kLetter + 2 * kPadding;
}

/// Slots without places: those of the nodes, and one for each row that an edge passes.
Sketch make_slots(const GraphPicture& picture) {
  Sketch sketch;
  const std::vector<std::size_t> rows = rows_of_nodes(picture);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sketch.slots.push_back({.row = rows[i], .width = width_of(picture.nodes[i])});
  }
  for (const Edge& edge : picture.edges) {
    std::vector<std::size_t> route = {edge.from};
    for (std::size_t row = rows[edge.from] + 1; row < rows[edge.to]; ++row) {
      sketch.slots.push_back({.row = row, .width = kLane});
      route.push_back(sketch.slots.size() - 1);
    }
    route.push_back(edge.to);
    for (std::size_t i = 1; i < route.size(); ++i) {
      sketch.slots[route[i]].above.push_back(route[i - 1]);
      sketch.slots[route[i - 1]].below.push_back(route[i]);
    }
    sketch.routes.push_back(std::move(route));
  }
  for (std::size_t i = 0; i < sketch.slots.size(); ++i) {
    const std::size_t row = sketch.slots[i].row;
    if (sketch.rows.size() <= row) sketch.rows.resize(row + 1);
    sketch.rows[row].push_back(i);
  }
  return sketch;
}

/// The mean place of `others`; that of the margin without any.
int mean_place(const Sketch& sketch, const std::vector<std::size_t>& others) {
  std::int64_t sum = 0;
  for (const std::size_t other : others) sum += sketch.slots[other].middle();
  return others.empty() ? kMargin : static_cast<int>(sum / std::ssize(others));
}

/// From above: each slot below what it comes after, as far to the left as those before it allow.
void place_below(Sketch& sketch) {
  for (auto& row : sketch.rows) {
    const auto wanted = [&](std::size_t i) { return mean_place(sketch, sketch.slots[i].above); };
    std::ranges::stable_sort(row, {}, wanted);
    int x = kMargin;
    for (const std::size_t i : row) {
      Slot& slot = sketch.slots[i];
      slot.x = std::max(x, wanted(i) - slot.width / 2);
      x = slot.x + slot.width + kGap;
    }
    sketch.width = std::max(sketch.width, x - kGap + kMargin);
  }
}

/// From below: each slot above what comes after it, as far to the right as those behind it allow.
void place_above(Sketch& sketch) {
  for (auto row = sketch.rows.rbegin(); row != sketch.rows.rend(); ++row) {
    int right = sketch.width - kMargin;
    for (auto i = row->rbegin(); i != row->rend(); ++i) {
      Slot& slot = sketch.slots[*i];
      const int wanted = mean_place(sketch, slot.below) - slot.width / 2;
      slot.x = std::max(slot.x, std::min(wanted, right - slot.width));
      right = slot.x - kGap;
    }
  }
}

void draw_node(drawing::Svg& svg, const Node& node, const Slot& slot) {
  svg.rectangle({.x = static_cast<double>(slot.x),
                 .y = static_cast<double>(slot.top()),
                 .width = static_cast<double>(slot.width),
                 .height = kBoxHeight},
                {{"rx", node.kernel ? "2" : "12"},
                 {"fill", node.kernel ? "#dcebff" : "#f2f2f2"},
                 {"stroke", kInk}});
  const auto text = [&](const std::string& what, int below) {
    svg.text({static_cast<double>(slot.middle()), static_cast<double>(slot.top() + below)}, what,
             {{"text-anchor", "middle"}});
  };
  text(node.label, node.detail.empty() ? 24 : 17);
  if (!node.detail.empty()) text(node.detail, 33);
}

/// Curves between rows, straight down past the boxes of a row: an edge meets no box but its ends.
drawing::Path path_of(const Sketch& sketch, const std::vector<std::size_t>& route) {
  const auto at = [](double x, double y) { return drawing::Point{x, y}; };
  const Slot& first = sketch.slots[route.front()];
  drawing::Path path(at(first.middle(), first.top() + kBoxHeight));
  for (std::size_t i = 1; i < route.size(); ++i) {
    const Slot& from = sketch.slots[route[i - 1]];
    const Slot& to = sketch.slots[route[i]];
    const bool last = i + 1 == route.size();
    const double start = from.top() + kBoxHeight, end = to.top() - (last ? 2 : 0);
    const double bend = (start + end) / 2;
    path.curve(at(from.middle(), bend), at(to.middle(), bend), at(to.middle(), end));
    if (!last) path.line(at(to.middle(), to.top() + kBoxHeight));
  }
  return path;
}

}  // namespace

std::string to_svg(const GraphPicture& picture) {
  Sketch sketch = make_slots(picture);
  place_below(sketch);
  place_above(sketch);
  const int rows = std::max(1, static_cast<int>(sketch.rows.size()));
  const int height = 2 * kMargin + (rows - 1) * kRowHeight + kBoxHeight;
  drawing::Svg svg({.width = static_cast<double>(sketch.width),
                    .height = static_cast<double>(height),
                    .font = drawing::Svg::Font::mono,
                    .font_size = 11},
                   "CUDA graph");
  svg.define_arrow(kInk);
  for (std::size_t i = 0; i < picture.edges.size(); ++i) {
    svg.path(path_of(sketch, sketch.routes[i]),
             {{"stroke", kInk},
              {"stroke-dasharray", picture.edges[i].overlapping ? "4 3" : "none"},
              {"marker-end", "url(#arrow)"}});
  }
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    draw_node(svg, picture.nodes[i], sketch.slots[i]);
  }
  return svg.document();
}

}  // namespace tilejit::graph
