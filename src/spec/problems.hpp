#pragma once

#include <string>
#include <vector>

#include "tilejit/error.hpp"

namespace tilejit::spec {

/// Collects the faults of a descriptor, so that one error can report them. The first 20 are
/// reported.
class Problems {
 public:
  void add(ErrorCode code, std::string message, std::string where);
  /// Adds an error that the part of the spec at `where` caused.
  void add(const Error& error, const std::string& where);
  void add(Problems&& others);
  /// Puts `text` in front of every message.
  void put_in_front(const std::string& text);

  [[nodiscard]] bool empty() const noexcept { return found_.empty(); }
  /// Throws one Error if there is any fault: code and where() of the first, the text of all.
  void throw_if_any() const;
  /// True if further faults are only counted.
  [[nodiscard]] bool full() const noexcept { return found_.size() > kMostKept; }

 private:
  struct Problem {
    ErrorCode code;
    std::string message;
    std::string where;
  };
  /// The faults that are reported. One more is kept, to tell that there are more.
  static constexpr std::size_t kMostKept = 20;
  std::vector<Problem> found_;
  std::size_t left_out_ = 0;  // only counted: a file may have millions of faults
};

/// `text` quoted for a message: at most 60 bytes, with unprintable ones replaced.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace tilejit::spec
