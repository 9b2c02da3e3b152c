#pragma once

#include <string>
#include <vector>

#include "tilejit/error.hpp"

namespace tilejit::spec {

/// Collects every fault of a descriptor, so that one error can report them all.
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

 private:
  struct Problem {
    ErrorCode code;
    std::string message;
    std::string where;
  };
  std::vector<Problem> found_;
};

/// `text` as it may be quoted in a message: at most 60 bytes, unprintable ones replaced.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace tilejit::spec
