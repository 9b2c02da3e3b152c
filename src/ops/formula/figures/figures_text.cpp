// Figures as JSON and for people.
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "core/json_line.hpp"
#include "figures/figures.hpp"
#include "figures/products.hpp"

namespace tilejit::figures {
namespace {

using core::JsonLine;
using plan::Plan;

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

void write(JsonLine& line, std::string_view name, const ThreadValues& values) {
  line.key(name)
      .open('{')
      .member("tile", to_string(values.tile))
      .member("thread", to_string(mode(values.layout, 0)))
      .member("value", to_string(mode(values.layout, 1)))
      .close('}');
}

void write(JsonLine& line, const OperandFigures& operand) {
  line.open('{')
      .member("name", operand.name)
      .member("access_elements", operand.access_elements)
      .member("access_bytes", operand.access_bytes)
      .member("bytes_in_flight", operand.bytes_in_flight);
  if (operand.bytes_moved) line.member("bytes_moved", *operand.bytes_moved);
  if (operand.sectors) {
    line.key("sectors")
        .open('{')
        .member("touched", operand.sectors->touched)
        .member("least", operand.sectors->least)
        .close('}');
  }
  line.close('}');
}

void write(JsonLine& line, const Demand& demand) {
  const std::pair<const char*, double> kMembers[] = {
      {"bytes", demand.bytes},
      {"again", demand.again},
      {"instructions", demand.instructions},
      {"special", demand.special},
      {"accesses", demand.accesses},
      {"shifted_words", demand.shifted_words},
      {"sectors", demand.sectors},
      {"trips", demand.trips},
      {"cached_trips", demand.cached_trips},
      {"barriers", demand.barriers},
      {"shuffles", demand.shuffles},
      {"clusters", demand.clusters},
      {"registers", demand.registers},
      {"shared_bytes", static_cast<double>(demand.shared_bytes)}};
  line.key("demand").open('{');
  for (const auto& [name, value] : kMembers) line.key(name).raw(number(value));
  line.member("splits", demand.splits).close('}');
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"bytes", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit == 0 || value >= 100 ? 0 : 1, kUnits[unit]);
}

std::string space_text(const Plan& plan) {
  std::string text;
  for (const Dim& extent : plan.extents) text += (text.empty() ? "" : ",") + to_string(extent);
  return "(" + text + ")";
}

std::string reach_text(const plan::Operand& operand, const plan::OperandSource* source) {
  if (source != nullptr) return "of the product";
  return operand.per_row ? "once a row" : std::string(plan::to_string(operand.reach));
}

std::string operand_text(const OperandFigures& figures, const plan::Operand& operand,
                         const plan::OperandSource* source) {
  std::string text =
      fmt::format("  {:<9} {} {} {}, {} bytes an access", figures.name,
                  operand.read ? operand.written ? "inout" : "in" : "out", to_string(operand.dtype),
                  reach_text(operand, source), figures.access_bytes);
  if (figures.sectors) {
    text += fmt::format(", {:.2f} times the least sectors", figures.sectors->ratio());
  }
  return text + '\n';
}

std::string block_text(const Figures& figures, const Plan& plan) {
  std::string text = fmt::format("{} threads", plan.threads);
  if (const plan::Rows* const rows = plan::rows_of(plan)) {
    text += fmt::format(", {} threads a row", rows->row_threads);
    if (rows->cluster > 1) text += fmt::format(" in each of {} blocks", rows->cluster);
    if (rows->splits > 1) text += fmt::format(", a row shared by {} blocks", rows->splits);
    if (rows->register_vectors > 0)
      text += fmt::format(", {} vectors held", rows->register_vectors);
    if (rows->ahead) text += ", the next row loaded ahead";
  }
  text += fmt::format(", vectors of {}, {} in flight", plan.vector, plan.unroll);
  if (figures.blocks) text += fmt::format("; {} blocks", *figures.blocks);
  return text;
}

std::string prediction_text(const Figures& figures) {
  if (!figures.memory_ms) return "sizes are not known: give the symbols examples";
  std::string devices;
  for (const Predicted& one : figures.predicted) {
    devices +=
        fmt::format("{}{:.4g} us on {}", devices.empty() ? "" : ", ", one.us, one.device->name);
  }
  if (!devices.empty()) return fmt::format("{}, limited by {}", devices, figures.limit());
  return fmt::format(
      "{:.4g} us, limited by {}: memory {:.4g} us at {:.0f} GB/s, arithmetic {:.0f} % of that, "
      "special functions {:.0f} % ({})",
      *figures.predicted_ms() * 1e3, figures.limit(), *figures.memory_ms * 1e3,
      figures.device->gigabytes_per_second, 100 * figures.arithmetic_share,
      100 * figures.special_share, figures.device->name);
}

void write_kernel(JsonLine& line, const Figures& figures, const Plan& plan) {
  write(line, "thread_values", figures.values);
  if (figures.transposed) write(line, "transposed_thread_values", *figures.transposed);
  line.key("operands").open('[');
  for (const OperandFigures& operand : figures.operands) write(line, operand);
  line.close(']')
      .member("threads", plan.threads)
      .member("resident_threads", figures.resident_threads);
  line.member("bytes_in_flight_a_thread", figures.bytes_in_flight)
      .member("bytes_in_flight_a_multiprocessor", figures.bytes_in_flight_a_multiprocessor());
}

std::string kernel_text(const Figures& figures, const Plan& plan) {
  std::string text = fmt::format("  {:<9} {}\n", "block", block_text(figures, plan));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  {:<9} {} over {}\n", "tv", to_string(figures.values.layout),
                 to_string(figures.values.tile));
  if (figures.transposed) {
    fmt::format_to(out, "  {:<9} {} over {}\n", "transposed tv",
                   to_string(figures.transposed->layout), to_string(figures.transposed->tile));
  }
  for (std::size_t i = 0; i < figures.operands.size(); ++i) {
    const plan::Operand& operand = plan.operands[i];
    text += operand_text(figures.operands[i], operand, source_of(plan, operand));
  }
  fmt::format_to(out, "  {:<9} {} a thread, {} a multiprocessor ({} threads)\n", "in flight",
                 bytes_text(figures.bytes_in_flight),
                 bytes_text(figures.bytes_in_flight_a_multiprocessor()), figures.resident_threads);
  return text;
}

std::string parts_text(const Plan& plan) {
  const auto& several = std::get<plan::Several>(plan.family);
  std::string text =
      fmt::format("  {:<9} {}, one after another\n", "kernels", several.parts.size());
  for (const plan::Temporary& temporary : several.temporaries) {
    text += fmt::format("  {:<9} {} of {}\n", "between", to_string(temporary.elements),
                        to_string(temporary.dtype));
  }
  return text;
}

}  // namespace

std::string to_json(const Figures& figures, const Plan& plan) {
  JsonLine line;
  line.open('{');
  if (figures.parts.empty()) {
    write_kernel(line, figures, plan);
  } else {
    line.key("parts").open('[');
    for (std::size_t i = 0; i < figures.parts.size(); ++i) {
      line.raw(to_json(figures.parts[i], plan::parts_of(plan)[i]));
    }
    line.close(']');
  }
  if (figures.demand) write(line, *figures.demand);
  if (figures.blocks) line.member("blocks", *figures.blocks);
  if (figures.bytes_moved) line.member("bytes_moved", *figures.bytes_moved);
  line.member("device", figures.device->name);
  if (figures.memory_ms) {
    line.member("limit", figures.limit())
        .key("predicted_ms")
        .raw(number(*figures.predicted_ms()))
        .key("memory_ms")
        .raw(number(*figures.memory_ms))
        .key("arithmetic_share")
        .raw(number(figures.arithmetic_share))
        .key("special_share")
        .raw(number(figures.special_share));
    line.key("predicted").open('{');
    for (const Predicted& one : figures.predicted)
      line.key(one.device->name).raw(number(one.us / 1e3));
    line.close('}');
  }
  return line.close('}').take();
}

std::string to_text(const Figures& figures, const Plan& plan) {
  std::string text = fmt::format("{}: {} for {}\n", plan.kernel_name, plan::template_name(plan),
                                 tilejit::to_string(plan.target));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  {:<9} {}, innermost mode first\n", "space", space_text(plan));
  text += figures.parts.empty() ? kernel_text(figures, plan) : parts_text(plan);
  if (figures.bytes_moved) {
    fmt::format_to(out, "  {:<9} {}\n", "moved", bytes_text(*figures.bytes_moved));
  }
  fmt::format_to(out, "  {:<9} {}\n", "predicted", prediction_text(figures));
  for (std::size_t i = 0; i < figures.parts.size(); ++i) {
    text += to_text(figures.parts[i], plan::parts_of(plan)[i]);
  }
  return text;
}

}  // namespace tilejit::figures
