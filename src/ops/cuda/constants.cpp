#include "cuda/constants.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/suggestion.hpp"
#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cuda {
namespace {

[[noreturn]] void refuse_value(std::string_view text, const char* wanted) {
  throw Error(ErrorCode::invalid_spec, "the value " + spec::in_quotes(text) + " is not " + wanted);
}

Number parse_number(std::string_view text) {
  const spec::Json json = spec::Json::parse(text, nullptr, false);
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  refuse_value(text, "a number");
}

}  // namespace

std::string to_text(const CudaConstant::Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, bool>) {
          return held ? "true" : "false";
        } else {
          return std::string(to_string(held));
        }
      },
      value);
}

CudaConstant::Value parse_value(std::string_view text, const CudaConstant::Value& like) {
  if (std::holds_alternative<bool>(like)) {
    if (text != "true" && text != "false") refuse_value(text, "true or false");
    return text == "true";
  }
  if (std::holds_alternative<DType>(like)) return parse_dtype(std::string(text), {});
  if (std::holds_alternative<ComposedLayout>(like)) return parse_composed_layout(text);
  return parse_number(text);
}

std::vector<CudaConstant> chosen_constants(const CudaKernel& kernel, const Tuning& tuning) {
  std::vector<CudaConstant> chosen = kernel.constants;
  for (const auto& [name, text] : tuning.constants) {
    const auto found = std::ranges::find(chosen, name, &CudaConstant::name);
    if (found == chosen.end()) {
      std::vector<std::string_view> known;
      for (const CudaConstant& constant : chosen) known.push_back(constant.name);
      throw Error(ErrorCode::invalid_spec,
                  "tuning chooses a value of " + spec::in_quotes(name) +
                      ", which is no constant of the kernel" +
                      core::did_you_mean(core::nearest_name(name, known)),
                  "/tuning/constants");
    }
    try {
      found->value = parse_value(text, found->value);
    } catch (const Error& error) {
      throw Error(ErrorCode::invalid_spec, error.what(), "/tuning/constants");
    }
  }
  return chosen;
}

std::map<std::string, std::int64_t> integers_of(const std::vector<CudaConstant>& constants) {
  std::map<std::string, std::int64_t> integers;
  for (const CudaConstant& constant : constants) {
    const auto* const number = std::get_if<Number>(&constant.value);
    if (number != nullptr && number->is_integer() && !number->exceeds_i64()) {
      integers.emplace(constant.name, number->bits());
    }
  }
  return integers;
}

}  // namespace tilejit::cuda
