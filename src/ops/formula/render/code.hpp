#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace tilejit::render {

/// Text of the header, and the names that it expects to be declared.
struct Code {
  std::string text = {};
  std::set<std::size_t> coordinates = {};  ///< the modes m whose c<m> it names
  bool valid = false;  ///< whether it names `valid`, the number of a vector's elements that exist

  Code& operator+=(const Code& other) {
    text += other.text;
    coordinates.insert(other.coordinates.begin(), other.coordinates.end());
    valid = valid || other.valid;
    return *this;
  }
  friend Code operator+(Code left, const Code& right) { return left += right; }
  [[nodiscard]] bool asks_for(std::size_t mode) const { return coordinates.contains(mode); }
};

}  // namespace tilejit::render
