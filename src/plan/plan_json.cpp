#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

/// "4096:1", or "(4,2):(1,8)" where the tensor decomposes the coordinate by itself.
std::string text_of(const OperandMode& leaves) {
  std::vector<IntTuple> shape, stride;
  for (const Mode& leaf : leaves) {
    shape.emplace_back(leaf.extent);
    stride.emplace_back(leaf.stride);
  }
  if (leaves.size() == 1) return to_string(Layout(shape[0], stride[0]));
  return to_string(Layout(IntTuple::tuple(shape), IntTuple::tuple(stride)));
}

/// "[...]" of what `append(item)` adds to the text for each item.
template <typename Items, typename Append>
void append_list(std::string& out, const Items& items, Append append) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) out += ',';
    append(item);
  }
  out += ']';
}

void append_text(std::string& out, std::string_view text) {
  ((out += '"') += text) += '"';
}

void append_operand(std::string& out, const Operand& operand) {
  const std::string_view access = operand.read ? (operand.written ? "inout" : "in") : "out";
  fmt::format_to(std::back_inserter(out),
                 R"({{"tensor":{},"dtype":"{}","access":"{}","reach":"{}","access_bytes":{},)"
                 R"("modes":)",
                 operand.tensor, to_string(operand.dtype), access, to_string(operand.reach),
                 operand.access_bytes);
  append_list(out, operand.modes,
              [&](const OperandMode& mode) { append_text(out, text_of(mode)); });
  out += '}';
}

std::string_view kind_name(Param::Kind kind) {
  switch (kind) {
    case Param::Kind::pointer: return "pointer";
    case Param::Kind::scalar: return "scalar";
    case Param::Kind::total: return "total";
    case Param::Kind::dim: return "dim";
    case Param::Kind::divisor: return "divisor";
  }
  return "unknown";
}

void append_param(std::string& out, const Param& param) {
  const auto end = std::back_inserter(out);
  fmt::format_to(end, R"({{"name":"{}","kind":"{}","offset":{})", param.name,
                 kind_name(param.kind), param.offset);
  if (param.kind == Param::Kind::scalar) {
    fmt::format_to(end, R"(,"dtype":"{}")", to_string(param.dtype));
  } else if (param.kind == Param::Kind::dim || param.kind == Param::Kind::divisor) {
    const std::string dim = to_string(param.dim);
    append_text(out += R"(,"value":)",
                param.per == 1 ? dim : fmt::format("ceil({}/{})", dim, param.per));
  }
  out += '}';
}

}  // namespace

std::string_view to_string(Reach reach) noexcept {
  switch (reach) {
    case Reach::contiguous: return "contiguous";
    case Reach::broadcast: return "broadcast";
    case Reach::strided: return "strided";
  }
  return "unknown";
}

std::string_view to_string(IndexWidth width) noexcept {
  switch (width) {
    case IndexWidth::narrow: return "narrow";
    case IndexWidth::wide: return "wide";
    case IndexWidth::both: return "both";
  }
  return "unknown";
}

// Written by hand rather than as a tree of values, since every request for a kernel does this
// before it can ask the cache, and the tree took a third of a hit's time. No text in it needs an
// escape: all are names and numbers.
std::string to_json(const Plan& plan, int indent) {
  std::string out;
  const auto end = std::back_inserter(out);
  fmt::format_to(end, R"({{"template":"fused_map","kernel":"{}","target":"{}","extents":)",
                 plan.kernel_name, tilejit::to_string(plan.target));
  append_list(out, plan.extents, [&](const Dim& dim) { append_text(out, to_string(dim)); });
  out += R"(,"operands":)";
  append_list(out, plan.operands, [&](const Operand& operand) { append_operand(out, operand); });
  fmt::format_to(end, R"(,"threads":{},"vector":{},"unroll":{},"ragged":{},"index":"{}")",
                 plan.threads, plan.vector, plan.unroll, plan.ragged, to_string(plan.index));
  out += R"(,"params":)";
  append_list(out, plan.params, [&](const Param& param) { append_param(out, param); });
  fmt::format_to(end, R"(,"params_bytes":{},"program":)", plan.params_bytes);
  append_list(out, expr::to_lines(plan.program),
              [&](const std::string& line) { append_text(out, line); });
  out += '}';
  return indent < 0 ? out : nlohmann::ordered_json::parse(out).dump(indent);
}

}  // namespace tilejit::plan
