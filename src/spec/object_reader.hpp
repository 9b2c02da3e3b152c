#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/json_pointer.hpp"
#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/number.hpp"

namespace tilejit::spec {

/// One JSON object of a spec: typed access to its members. Collects every fault with its pointer.
class ObjectReader {
 public:
  /// If `json` is not an object, adds that to `problems` and reads all members as absent.
  ObjectReader(const Json& json, std::string where, Problems& problems);

  /// Adds a fault for each member not named in `known`, with the nearest known name.
  void refuse_others(std::initializer_list<std::string_view> known);

  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] std::string at(std::string_view key) const;  ///< JSON pointer of a member
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key);
  [[nodiscard]] std::optional<Number> number(std::string_view key);
  [[nodiscard]] std::optional<bool> boolean(std::string_view key);
  /// Adds a fault for a missing member, unless the whole object is missing.
  void missing(std::string_view key, std::string_view example);
  void wrong(std::string_view key, const std::string& expected);

  /// Calls `each(name, value, pointer)` for the members of the object `key`, if it is present.
  void members(
      std::string_view key,
      const std::function<void(const std::string&, const Json&, const std::string&)>& each);

 private:
  const Json* json_;
  std::string where_;
  Problems* problems_;
};

using core::pointer_to;

}  // namespace tilejit::spec
