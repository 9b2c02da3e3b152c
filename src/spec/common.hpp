#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/object_reader.hpp"
#include "tilejit/tensor.hpp"
#include "tilejit/tuning.hpp"

namespace tilejit::spec {

constexpr std::size_t kMaxTensors = 64;

/// What every descriptor has, whatever its operation.
struct Common {
  std::string name;
  std::vector<Symbol> symbols = {};
  std::vector<Tensor> tensors = {};
  std::vector<Scalar> scalars = {};
  Tuning tuning = {};
};

/// Reads those members of `object`: "name", "symbols", "tensors", "scalars", "tuning" and "tv", and
/// looks at "$schema", "description" and "op". Symbols may be declared in "symbols" or where a
/// shape uses them. `common` is what it was where a member is missing or wrong; faults go to
/// `problems`.
void read_common(ObjectReader& object, Problems& problems, Common& common);
/// The members that read_common reads back, before and behind those of the operation's own.
[[nodiscard]] Json common_json(const std::string& name, const std::vector<Symbol>& symbols,
                               const std::vector<Tensor>& tensors,
                               const std::vector<Scalar>& scalars);
void add_tuning(Json& json, const Tuning& tuning);
/// What Descriptor::json returns; `name`: the descriptor's. Throws Error{invalid_spec} for text that
/// is not UTF-8.
[[nodiscard]] std::string text_of(const Json& json, const std::string& name);

/// A list of strings, "a list of strings" being asked for where it is none.
void read_strings(ObjectReader& object, std::string_view key, std::vector<std::string>& strings);

}  // namespace tilejit::spec
