#include "program/tl_reader.hpp"

#include <string>
#include <utility>

namespace tilejit::program {
namespace {

using expr::Token;

class TextReader {
 public:
  explicit TextReader(std::string_view text)
      : at_(text), header_(at_, program_), statements_(at_) {}

  TileProgram read() {
    for (;;) {
      while (at_.peek().kind == Token::Kind::separator) at_.take();
      if (at_.peek().kind == Token::Kind::end) break;
      if (at_.at_comment()) {
        comments_.push_back(at_.take_comment());
      } else {
        line();
        end_of_line();
      }
    }
    keep_comments_as_statements();
    return std::move(program_);
  }

 private:
  void line() {
    const Token first = at_.peek();
    if (const auto note = header_.line()) {
      if (!program_.body.empty()) {
        at_.fail_at(first.position, "'" + std::string(first.text) +
                                        "' belongs to the header, which stands before the first "
                                        "statement");
      }
      for (std::string& text : comments_) program_.notes.push_back({*note, std::move(text)});
      comments_.clear();
      note_ = note;
      return;
    }
    keep_comments_as_statements();
    note_.reset();
    program_.body.push_back(statements_.statement());
  }

  void end_of_line() {
    if (!at_.at_line_end()) at_.fail("expected the end of the line, found " + at_.found());
    if (!at_.at_comment()) return;
    std::string text = at_.take_comment();
    if (note_) {
      program_.notes.push_back({*note_, std::move(text), true});
    } else {
      program_.body.back().comment = std::move(text);
    }
  }

  void keep_comments_as_statements() {
    for (std::string& text : comments_) {
      program_.body.push_back({.kind = TileComment{std::move(text)}});
    }
    comments_.clear();
  }

  TileProgram program_;
  Cursor at_;
  HeaderReader header_;
  StatementReader statements_;
  std::vector<std::string> comments_;  // lines of their own, before the next line
  std::optional<std::string> note_;    // of the line that was read last, if of the header
};

}  // namespace

TileProgram read_tl(std::string_view text) {
  if (text.size() > kMostTextBytes) {
    throw Error(ErrorCode::invalid_formula, "program: the text has " + std::to_string(text.size()) +
                                                " bytes, at most 1048576 are allowed");
  }
  TileProgram program = TextReader(text).read();
  program.source = std::string(text);
  return program;
}

}  // namespace tilejit::program
