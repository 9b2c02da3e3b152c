// A program as TL text.
#include "program/tl_writer.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "program/style.hpp"
#include "program/words.hpp"

namespace tilejit::program {
namespace {

std::string list_text(const std::vector<TileExpression>& items, char open, char close) {
  std::string text(1, open);
  for (const TileExpression& item : items) text += (text.size() == 1 ? "" : ", ") + item.text();
  return text + close;
}

std::string values_text(const std::vector<Number>& values) {
  std::string text = "(";
  for (const Number& value : values) text += (text.size() == 1 ? "" : ", ") + to_string(value);
  return text + ")";
}

std::string layout_text(const Layout& layout) {
  std::string text = "[";
  IntTuple shape = IntTuple::empty_tuple();
  for (const Mode& leaf : layout.leaves()) {
    text += (text.size() == 1 ? "" : ", ") + to_string(leaf.extent);
    shape.append(leaf.extent);
  }
  if (layout == Layout()) return "[]";
  if (row_major(shape) == layout) return text + "]";
  return "layout " + in_tl_quotes(to_string(layout));
}

std::string tensor_text(const TileProgram& program, const Tensor& tensor) {
  std::string text = "Tensor " + tensor.name + " : " + std::string(to_string(tensor.dtype)) + ' ' +
                     layout_text(tensor.layout);
  switch (tensor.access) {
    case Access::in: text += " in"; break;
    case Access::out: text += " out"; break;
    case Access::inout: text += " inout"; break;
    case Access::automatic: break;
  }
  if (std::ranges::find(program.zeroed, tensor.name) != program.zeroed.end()) text += " zeroed";
  if (tensor.align != Tensor{}.align) text += " align " + std::to_string(tensor.align);
  return text;
}

class Writer {
 public:
  Writer(const TileProgram& program, TextOf of) : program_(program), of_(of) {}

  std::string run() {
    header();
    if (!program_.body.empty() && !text_.empty()) text_ += '\n';
    body(program_.body, 0);
    return std::move(text_);
  }

 private:
  [[nodiscard]] bool is_whole() const { return of_ == TextOf::program; }
  [[nodiscard]] std::span<const TileNote> notes() const {
    return is_whole() ? std::span<const TileNote>(program_.notes) : std::span<const TileNote>();
  }

  /// A line of the header, with its notes.
  void line(const std::string& at, const std::string& text) {
    for (const TileNote& note : notes()) {
      if (note.at == at && !note.same_line) comment(note.text, 0);
    }
    text_ += text + note_beside(at) + '\n';
  }

  [[nodiscard]] bool has_notes(const std::string& at) const {
    return std::ranges::any_of(notes(), [&](const TileNote& note) { return note.at == at; });
  }

  [[nodiscard]] std::string note_beside(const std::string& at) const {
    for (const TileNote& note : notes()) {
      if (note.at == at && note.same_line) return "  # " + note.text;
    }
    return {};
  }

  void comment(const std::string& text, std::size_t depth) {
    text_ += std::string(2 * depth, ' ') + (text.empty() ? "#" : "# " + text) + '\n';
  }

  /// Items that share a line, unless they have notes. `items`: what a note is at, and the text.
  void shared_lines(const std::string& word,
                    const std::vector<std::pair<std::string, std::string>>& items) {
    std::string pending;
    std::string at;
    const auto flush = [&] {
      if (!pending.empty()) line(at, word + ' ' + pending);
      pending.clear();
    };
    for (const auto& [name, text] : items) {
      const bool alone = has_notes(word + ' ' + name);
      if (alone) flush();
      pending += (pending.empty() ? "" : ", ") + text;
      at = word + ' ' + name;
      if (alone) flush();
    }
    flush();
  }

  void header() {
    line("Kernel", "Kernel " + program_.name);
    symbols();
    for (const Tensor& tensor : program_.tensors) {
      line("Tensor " + tensor.name, tensor_text(program_, tensor));
    }
    for (const Scalar& scalar : program_.scalars) {
      std::string text = "Scalar " + scalar.name + " : " + std::string(to_string(scalar.dtype));
      if (scalar.example && is_whole()) text += " example " + to_string(*scalar.example);
      line("Scalar " + scalar.name, text);
    }
    if (is_whole()) constants();
    for (const Function& function : program_.functions) function_line(function);
    launch();
    if (!is_whole()) return;
    for (std::size_t i = 0; i < program_.verify.size(); ++i) {
      line("Verify " + std::to_string(i + 1), "Verify " + program_.verify[i].text());
    }
  }

  void constants() {
    std::vector<std::pair<std::string, std::string>> constants;
    for (const TileConstant& constant : program_.constants) {
      constants.emplace_back(constant.name, constant.name + " = " + to_string(constant.value));
    }
    shared_lines("Constant", constants);
    for (const TileValues& sweep : program_.sweep) {
      line("Sweep " + sweep.name, "Sweep " + sweep.name + " in " + values_text(sweep.values));
    }
    for (const TileValues& tune : program_.tune) {
      line("Tune " + tune.name, "Tune " + tune.name + " in " + values_text(tune.values));
    }
  }

  void symbols() {
    std::vector<std::pair<std::string, std::string>> items;
    for (const Symbol& symbol : program_.symbols) {
      if (symbol.divisible_by == 1 && !is_whole()) continue;
      std::string text = symbol.name;
      if (symbol.divisible_by != 1) text += " divisible_by " + std::to_string(symbol.divisible_by);
      if (symbol.example && is_whole()) text += " example " + std::to_string(*symbol.example);
      items.emplace_back(symbol.name, text);
    }
    shared_lines("Symbol", items);
  }

  void function_line(const Function& function) {
    std::string text = "Function " + function.name + "(";
    for (std::size_t i = 0; i < function.args.size(); ++i) {
      text += (i == 0 ? "" : ", ") + function.args[i];
    }
    line("Function " + function.name, text + ") = " + styled(function.expr));
  }

  void launch() {
    const TileLaunch& launch = program_.launch;
    if (launch.grid != TileLaunch{}.grid || has_notes("Grid")) {
      line("Grid", "Grid " + list_text(launch.grid, '(', ')'));
    }
    if (launch.block != TileLaunch{}.block || has_notes("Block")) {
      line("Block", "Block " + list_text(launch.block, '(', ')'));
    }
    std::string hints;
    if (launch.cluster != TileLaunch{}.cluster) hints += " cluster=" + launch.cluster.text();
    if (launch.min_blocks != 0) hints += " min_blocks=" + std::to_string(launch.min_blocks);
    if (!launch.order.empty()) hints += " order=" + in_tl_quotes(launch.order);
    if (!hints.empty()) line("Launch", "Launch" + hints);
  }

  void body(const TileBody& statements, std::size_t depth) {
    for (const TileStatement& statement : statements) {
      if (const auto* const own = std::get_if<TileComment>(&statement.kind)) {
        if (is_whole()) comment(own->text, depth);
        continue;
      }
      indented(statement_text(statement.kind), depth, is_whole() ? statement.comment : "");
      if (const auto* const loop = std::get_if<TileFor>(&statement.kind)) {
        body(loop->body, depth + 1);
        indented("end", depth);
      } else if (const auto* const loop = std::get_if<TileWhile>(&statement.kind)) {
        body(loop->body, depth + 1);
        indented("end", depth);
      } else if (const auto* const branch = std::get_if<TileIf>(&statement.kind)) {
        body(branch->then, depth + 1);
        if (!branch->otherwise.empty()) {
          indented("else", depth);
          body(branch->otherwise, depth + 1);
        }
        indented("end", depth);
      }
    }
  }

  void indented(const std::string& text, std::size_t depth, const std::string& comment = {}) {
    text_ += std::string(2 * depth, ' ') + text + (comment.empty() ? "" : "  # " + comment) + '\n';
  }

  const TileProgram& program_;
  const TextOf of_;
  std::string text_;
};

}  // namespace

std::string tl_text(const TileProgram& program, TextOf of) {
  return Writer(program, of).run();
}

}  // namespace tilejit::program
