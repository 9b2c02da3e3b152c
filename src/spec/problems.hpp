#pragma once

#include <string>
#include <vector>

#include "tilejit/error.hpp"

namespace tilejit::spec {

/// Collects the faults of a descriptor, so that one error can report them. The first 20 are told.
class Problems {
 public:
  void add(ErrorCode code, std::string message, std::string where);
  /// Adds an error caught while looking at the part of the spec at `where`.
  void add(const Error& error, const std::string& where);
  void add(Problems&& others);
  /// Puts `text` in front of every message.
  void put_in_front(const std::string& text);

  [[nodiscard]] bool empty() const noexcept { return found_.empty(); }
  /// Throws one Error if anything was added: code and where() of the first, the text of all.
  void throw_if_any() const;
  /// Whether further faults are only counted.
  [[nodiscard]] bool full() const noexcept { return found_.size() > kMostKept; }

 private:
  struct Problem {
    ErrorCode code;
    std::string message;
    std::string where;
  };
  /// What is reported, and one more.
  static constexpr std::size_t kMostKept = 20;
  std::vector<Problem> found_;
  std::size_t left_out_ = 0;  // counted alone: a file may have millions
};

/// `text` as it may be quoted in a message: at most 60 bytes, unprintable ones replaced.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace tilejit::spec
