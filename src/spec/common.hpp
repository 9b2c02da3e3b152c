#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/object_reader.hpp"
#include "tilejit/tensor.hpp"
#include "tilejit/tuning.hpp"

namespace tilejit::spec {

constexpr std::size_t kMaxTensors = 64;

/// The members that every descriptor has, for any operation.
struct Common {
  std::string name;
  std::vector<Symbol> symbols = {};
  std::vector<Tensor> tensors = {};
  std::vector<Scalar> scalars = {};
  Tuning tuning = {};
};

/// Reads these members of `object`: "name", "symbols", "tensors", "scalars", "tuning" and "tv";
/// accepts "$schema", "description" and "op". Symbols may be declared in "symbols" or in the shape
/// that uses them. A missing or wrong member leaves its field of `common` unchanged. Faults go to
/// `problems`.
void read_common(ObjectReader& object, Problems& problems, Common& common);
/// The members that read_common reads back, placed before and after those of the operation itself.
[[nodiscard]] Json common_json(const std::string& name, const std::vector<Symbol>& symbols,
                               const std::vector<Tensor>& tensors,
                               const std::vector<Scalar>& scalars);
void add_tuning(Json& json, const Tuning& tuning);
/// What Descriptor::json returns; `name` is the descriptor's. Throws Error{invalid_spec} for text
/// that is not UTF-8.
[[nodiscard]] std::string text_of(const Json& json, const std::string& name);

/// Reads a list of strings. Adds a fault that asks for "a list of strings" if the member is none.
void read_strings(ObjectReader& object, std::string_view key, std::vector<std::string>& strings);

}  // namespace tilejit::spec
