// Explains a plan and its figures in words.
#include "figures/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "attention/attention_plan.hpp"
#include "core/integer.hpp"
#include "figures/of_families.hpp"
#include "figures/operations.hpp"
#include "figures/products.hpp"
#include "figures/widths.hpp"
#include "formula/product.hpp"

namespace tilejit::figures {
namespace {

using plan::Operand;
using plan::Plan;

const Tuning kNothingPinned = {};    // for parts
constexpr double kShortMs = 0.005;   // starting a kernel takes a good part of this
constexpr double kFewThreads = 0.5;  // share of a multiprocessor's threads that is worth a word

std::string bytes_text(double bytes) {
  constexpr std::array kUnits = {"bytes", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 || bytes >= 100 ? 0 : 1, kUnits[unit]);
}

Sentences why_template(const Plan& plan) {
  Sentences sentences =
      std::visit([&](const auto& family) { return why(plan, family); }, plan.family);
  sentences.front().insert(0, std::string(plan::template_name(plan)) + ": ");
  return sentences;
}

/// Sentences about one kernel, topic by topic.
class Writer {
 public:
  Writer(const Plan& plan, const Origin& origin, const Figures& figures,
         const SymbolValues& symbols, const std::optional<Compiled>& compiled)
      : plan_(plan),
        rows_(plan::rows_of(plan)),
        pinned_(origin.pinned),
        figures_(figures),
        compiled_(compiled) {
    const device::Device& device = *figures.device;
    device::BlockNeeds needs{.threads = plan.threads, .shared_bytes = shared_bytes_of(plan)};
    if (compiled) {
      needs.registers = compiled->registers;
      needs.shared_bytes = compiled->static_bytes + plan::dynamic_shared_bytes(plan);
    }
    shared_bytes_ = needs.shared_bytes;
    result_.occupancy = device::occupancy_of(device, needs);
    result_.operations = count_operations(plan.signature.tensors, origin.analysis, symbols);
    result_.bytes_needed =
        device.latency_ns() * device.gigabytes_per_second / device.multiprocessors;
    result_.bytes_issued = figures.bytes_in_flight * resident_blocks() * plan.threads;
  }

  Explanation write() {
    add("template", why_template(plan_));
    add("block", block());
    widths();
    add("registers", registers());
    add("shared", shared());
    add("occupancy", occupancy());
    add("work", work());
    add("in flight", in_flight());
    add("predicted", predicted());
    advise();
    return std::move(result_);
  }

 private:
  void add(std::string name, std::vector<std::string> sentences) {
    result_.topics.push_back({std::move(name), std::move(sentences)});
  }
  void advise_if(bool applies, std::string advice) {
    const bool known = std::ranges::find(result_.advice, advice) != result_.advice.end();
    if (applies && !known) result_.advice.push_back(std::move(advice));
  }

  /// The most blocks that a multiprocessor has at once in this launch.
  [[nodiscard]] std::int64_t resident_blocks() const {
    if (!figures_.blocks) return result_.occupancy.blocks;
    return std::min<std::int64_t>(
        result_.occupancy.blocks,
        core::ceil_div(*figures_.blocks, figures_.device->multiprocessors));
  }

  [[nodiscard]] std::vector<std::string> block() const {
    std::vector<std::string> sentences = {
        fmt::format("{} threads, each with {} at a time, for a tile of {} elements.", plan_.threads,
                    vectors(), to_string(figures_.values.tile))};
    if (rows_ != nullptr) sentences.push_back(row_sharing());
    if (figures_.blocks) {
      sentences.push_back(fmt::format("{} for {}.", count_text(*figures_.blocks, "block"),
                                      count_text(figures_.elements.value_or(0), "element")));
    }
    return sentences;
  }

  [[nodiscard]] std::string vectors() const {
    const int count =
        rows_ != nullptr && rows_->register_vectors > 0 ? rows_->register_vectors : plan_.unroll;
    return fmt::format("{} of {}", count_text(count, "vector"),
                       count_text(plan_.vector, "element"));
  }

  [[nodiscard]] std::string row_sharing() const {
    const plan::Rows& rows = *rows_;
    std::string text =
        fmt::format("{} of a block share a row", count_text(rows.row_threads, "thread"));
    if (rows.cluster > 1)
      text += fmt::format(", in each of the {} blocks of a cluster", rows.cluster);
    if (rows.splits > 1) {
      text += fmt::format(", {} blocks through memory and {}", rows.splits,
                          rows.atomics ? "the last of them" : "a second kernel");
    }
    if (rows.register_vectors > 0)
      return text + "; a row stays in registers, so that it is read once.";
    return text + "; a row does not stay in registers, so that every pass reads it.";
  }

  void widths() {
    std::vector<std::string> sentences;
    for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
      const Operand& operand = plan_.operands[i];
      if (source_of(plan_, operand) != nullptr) continue;  // "template" says it
      const WidthReason reason = explain_width(plan_, pinned_, i);
      std::string text = fmt::format("{}: {} an access; {}", name_of(plan_, operand),
                                     count_text(operand.access_bytes, "byte"), reason.text);
      const auto& sectors = figures_.operands[i].sectors;
      if (sectors && sectors->ratio() > 1.005) {
        text += fmt::format("; {:.2f} times the sectors that its bytes need", sectors->ratio());
      }
      sentences.push_back(text + ".");
      advise_if(!reason.remedy.empty(), "For wider accesses " + reason.remedy + ".");
    }
    add("widths", std::move(sentences));
  }

  [[nodiscard]] std::vector<std::string> registers() const {
    if (!compiled_) return {"Not known: the kernel has not been compiled."};
    const std::string count = count_text(compiled_->registers, "register");
    if (compiled_->spill_bytes == 0) return {count + " a thread, no spills."};
    return {fmt::format("{} a thread, and {} spilled to local memory.", count,
                        count_text(compiled_->spill_bytes, "byte"))};
  }

  [[nodiscard]] std::vector<std::string> shared() const {
    if (shared_bytes_ == 0) return {"None."};
    return {bytes_text(static_cast<double>(shared_bytes_)) + " a block" +
            (compiled_ ? "." : ", as planned.")};
  }

  [[nodiscard]] std::vector<std::string> occupancy() const {
    const device::Occupancy& occupancy = result_.occupancy;
    std::vector<std::string> sentences = {fmt::format(
        "{} of {} threads on a multiprocessor: {:.0f} % of its {} threads, limited by {}{}.",
        count_text(occupancy.blocks, "block"), plan_.threads, 100 * occupancy.part,
        figures_.device->threads, occupancy.limit,
        compiled_ ? "" : ", if registers allow as many")};
    if (is_small()) {
      sentences.push_back(
          fmt::format("The launch has no more than {} for each of {} multiprocessors.",
                      count_text(resident_blocks(), "block"), figures_.device->multiprocessors));
    }
    return sentences;
  }

  [[nodiscard]] bool is_small() const {
    return figures_.blocks && resident_blocks() < result_.occupancy.blocks;
  }

  [[nodiscard]] std::vector<std::string> work() const {
    if (!figures_.bytes_moved) return {"Sizes are not known: give the symbols examples."};
    const auto bytes = static_cast<double>(*figures_.bytes_moved);
    std::string text = bytes_text(bytes) + " moved";
    if (result_.operations) {
      text += fmt::format(", {}", count_text(*result_.operations, "operation"));
      if (bytes > 0) {
        text += fmt::format(": {:.2f} a byte", static_cast<double>(*result_.operations) / bytes);
      }
    }
    return {text + "."};
  }

  [[nodiscard]] std::vector<std::string> in_flight() const {
    const auto issued = static_cast<double>(result_.bytes_issued);
    return {
        fmt::format("Each thread issues loads of {} before it waits: {} a multiprocessor.",
                    bytes_text(static_cast<double>(figures_.bytes_in_flight)), bytes_text(issued)),
        fmt::format("Little's law asks for {} at least: {:.0f} GB/s over {} multiprocessors, "
                    "times {:.0f} ns until idle memory answers; memory under load, several "
                    "times as much.",
                    bytes_text(result_.bytes_needed), figures_.device->gigabytes_per_second,
                    figures_.device->multiprocessors, figures_.device->latency_ns())};
  }

  [[nodiscard]] std::vector<std::string> predicted() const {
    if (!figures_.memory_ms) return {"Sizes are not known: give the symbols examples."};
    std::vector<std::string> sentences;
    for (const Predicted& one : figures_.predicted)
      sentences.push_back(
          fmt::format("{:.4g} us on {}, limited by {}.", one.us, one.device->name, one.limit));
    if (sentences.empty()) {
      sentences.push_back(fmt::format("{:.4g} us at the published peaks of {}, limited by {}.",
                                      *figures_.predicted_ms() * 1e3, figures_.device->name,
                                      figures_.limit()));
    }
    sentences.push_back(
        fmt::format("At the published peaks of {} memory alone takes {:.4g} us; the formula's "
                    "instructions take {:.0f} % of that, its "
                    "special functions {:.0f} %.",
                    figures_.device->name, *figures_.memory_ms * 1e3,
                    100 * figures_.arithmetic_share, 100 * figures_.special_share));
    return sentences;
  }

  void advise() {
    const auto predicted = figures_.predicted_ms();
    const bool few_bytes = static_cast<double>(result_.bytes_issued) < result_.bytes_needed &&
                           figures_.bytes_moved > 0;
    advise_if(compiled_ && compiled_->spill_bytes > 0,
              "Lower \"vector\", \"unroll\" or \"register_vectors\": registers are spilled.");
    const bool multiplies = plan::matmul_of(plan_) != nullptr;  // with few threads on purpose
    advise_if(!multiplies && result_.occupancy.part < kFewThreads &&
                  result_.occupancy.limit == "registers",
              "Lower \"vector\", \"unroll\" or \"register_vectors\" for fewer registers and more "
              "threads.");
    advise_if(!multiplies && few_bytes && !is_small(),
              "Raise \"unroll\": too few bytes are in flight.");
    const bool idle = figures_.blocks && *figures_.blocks < figures_.device->multiprocessors;
    advise_if((few_bytes && is_small()) || (idle && figures_.bytes_moved > 0),
              "Expect less than the memory's speed: the problem does not fill the device.");
    const auto* const reduced = std::get_if<plan::Rows>(&plan_.family);
    advise_if(reduced != nullptr && reduced->register_vectors == 0 && reduced->splits == 1 &&
                  reduced->along() && symbolic(),
              "Give the extents of rows as numbers: rows of known length stay in registers.");
    advise_if(!multiplies &&
                  (figures_.limit() == "arithmetic" || figures_.limit() == "special functions"),
              "Expect the formula to decide: fewer or cheaper functions are what helps.");
    advise_if(predicted && *predicted > 0 && *predicted < kShortMs,
              "Launch it from a graph, or fuse it with its neighbours: starting a kernel takes "
              "microseconds.");
  }

  [[nodiscard]] bool symbolic() const {
    return !std::ranges::all_of(plan_.extents, &Dim::is_known);
  }

  const Plan& plan_;
  const plan::Rows* rows_;
  const Tuning& pinned_;
  const Figures& figures_;
  const std::optional<Compiled>& compiled_;
  std::int64_t shared_bytes_ = 0;
  Explanation result_;
};

}  // namespace

namespace {

std::string text_of(const std::vector<Dim>& shape) {
  std::string text;
  for (const Dim& extent : shape) text += (text.empty() ? "" : ",") + to_string(extent);
  return "(" + text + ")";
}

/// Operands that are copied, since tensor maps cannot show them as they are (wgmma/copies.hpp).
void add_copies(const Plan& plan, const formula::Analysis& analysis, Sentences& sentences) {
  const auto known = static_cast<int>(plan.operands.size() + analysis.results.size());
  for (const Plan& part : plan::parts_of(plan)) {
    const std::string& name = part.signature.tensors.back().name;
    if (part.tensors.back() < known || !name.ends_with("_copy")) continue;
    sentences.push_back(fmt::format(
        "{} is copied first, with rows of whole 16 bytes along which warpgroups can read it.",
        part.signature.tensors.front().name));
  }
}

/// What of a formula with products is a step of its own, and why. Steps that products do on their
/// way are left out.
Sentences why_steps(const Plan& plan, const formula::Analysis& analysis) {
  const auto in_memory = [&](const formula::Step& step) {
    const auto own = static_cast<std::size_t>(step.analysis.program.stores.front().tensor);
    return std::ranges::any_of(plan::parts_of(plan), [&](const Plan& part) {
      return std::ranges::count(part.tensors, step.tensors[own]) != 0;
    });
  };
  std::ptrdiff_t steps = std::ranges::count_if(analysis.steps, in_memory);
  std::ptrdiff_t results = std::ssize(analysis.results) - std::ssize(analysis.steps) + steps;
  for (const Plan& part : plan::parts_of(plan)) {
    const plan::Matmul* const product = plan::matmul_of(part);
    if (product == nullptr || product->reductions.empty()) continue;
    ++steps;  // which reduces the partial results
    results += std::ssize(product->reductions);
  }
  Sentences sentences = {
      fmt::format("fused_parts: the formula has products of matrices, and takes {}, "
                  "with {} in memory between them.",
                  count_text(steps, "step"), count_text(results, "result"))};
  for (const formula::Step& step : analysis.steps) {
    if (step.why.empty() || !in_memory(step)) continue;
    const Tensor& result =
        step.op.tensors[static_cast<std::size_t>(step.analysis.program.stores.front().tensor)];
    std::vector<Dim> shape;
    for (std::size_t i = 0; i < rank(result.layout); ++i)
      shape.push_back(size(mode(result.layout, i)));
    sentences.push_back(fmt::format("{} {} of {} goes through memory: {}.", result.name,
                                    text_of(shape), to_string(result.dtype), step.why));
  }
  for (std::size_t s = 0; s < analysis.steps.size(); ++s) {
    const std::string why_not = plan::why_no_attention(analysis, s, plan.target);
    if (why_not.empty()) continue;
    sentences.push_back(fmt::format(
        "The softmax between two products would be one kernel with them, but {}.", why_not));
  }
  add_copies(plan, analysis, sentences);
  return sentences;
}

/// What a cast would send to tensor cores.
void advise_on_products(const formula::Analysis& analysis, std::vector<std::string>& advice) {
  for (const formula::Step& step : analysis.steps) {
    if (!formula::has_product(step.analysis.program)) continue;
    const formula::Product product = formula::product_of(step.op, step.analysis);
    if (product.a.dtype != f32) continue;
    advice.push_back(fmt::format(
        "For tensor cores cast both operands of the product {}, {} by {}, to tf32, bf16 or f16: in "
        "f32 it takes fused multiply-adds.",
        text_of(step.analysis.shape), step.op.tensors[0].name, step.op.tensors[1].name));
  }
}

/// Writes one topic per kernel. The compiler's numbers are those of the largest kernel, so only the
/// topic of the whole operation has them.
Explanation explain_parts(const Plan& plan, const Origin& origin, const SymbolValues& symbols) {
  Explanation result{.operations =
                         count_operations(plan.signature.tensors, origin.analysis, symbols)};
  const bool in_steps = !origin.analysis.steps.empty();
  result.topics.push_back(
      {"template", in_steps ? why_steps(plan, origin.analysis) : why_template(plan)});
  if (in_steps) advise_on_products(origin.analysis, result.advice);
  const std::span<const Plan> parts = plan::parts_of(plan);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Explanation part =
        explain(parts[i], {origin.of_parts[i], {}, kNothingPinned}, symbols, std::nullopt);
    Topic topic{.name = fmt::format("part {}", i), .sentences = {}};
    for (Topic& one : part.topics) {
      if (one.name == "registers") continue;
      std::ranges::move(one.sentences, std::back_inserter(topic.sentences));
    }
    result.topics.push_back(std::move(topic));
    for (std::string& advice : part.advice) {
      const bool known = std::ranges::find(result.advice, advice) != result.advice.end();
      if (!known) result.advice.push_back(std::move(advice));
    }
    if (i > 0) continue;
    result.occupancy = part.occupancy;
    result.bytes_needed = part.bytes_needed;
    result.bytes_issued = part.bytes_issued;
  }
  return result;
}

}  // namespace

std::string count_text(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Explanation explain(const Plan& plan, const Origin& origin, const SymbolValues& symbols,
                    const std::optional<Compiled>& compiled) {
  const std::span<const Plan> parts = plan::parts_of(plan);
  if (parts.size() == 1) {
    Explanation only =
        explain(parts.front(), {origin.of_parts.front(), {}, origin.pinned}, symbols, compiled);
    advise_on_products(origin.analysis, only.advice);
    return only;
  }
  if (!parts.empty()) return explain_parts(plan, origin, symbols);
  const Figures figures = figures_of(plan, symbols);
  return Writer(plan, origin, figures, symbols, compiled).write();
}

}  // namespace tilejit::figures
