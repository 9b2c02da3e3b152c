#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layout/layout_value.hpp"

namespace tilejit::cli {
namespace {

nlohmann::ordered_json to_json(const Dim& dim) {
  if (dim.is_known()) return dim.value();
  return to_string(dim);
}

nlohmann::ordered_json to_json(const CoordinateLeaf& leaf) {
  if (leaf.is_underscore()) return nullptr;
  return leaf.value();
}

template <typename Leaf>
nlohmann::ordered_json to_json(const Nested<Leaf>& tuple) {
  if (tuple.is_leaf()) return to_json(tuple.leaf());
  auto modes = nlohmann::ordered_json::array();
  tuple.for_each_mode([&](const Nested<Leaf>& mode) { modes.push_back(to_json(mode)); });
  return modes;
}

}  // namespace

Answer make_answer(bool value) {
  return {value ? "true" : "false", value};
}

Answer make_answer(std::int64_t value) {
  return {std::to_string(value), value};
}

Answer make_answer(const Dim& value) {
  return {to_string(value), to_json(value)};
}

Answer make_answer(const std::vector<std::int64_t>& values) {
  return {fmt::format("{}", fmt::join(values, " ")), values};
}

Answer make_answer(const Coordinate& value) {
  return {to_string(value), to_json(value)};
}

Answer make_answer(const Position& value) {
  if (value.number) return {value.text, *value.number};
  return {value.text, value.text};
}

Answer make_answer(const WrittenSlice& value) {
  const Answer layout = make_answer(value.layout), offset = make_answer(value.offset);
  return {fmt::format("{} at offset {}", layout.text, offset.text),
          {{"layout", layout.json}, {"offset", offset.json}}};
}

Answer make_answer(const WrittenAnswer& value) {
  return {value.text, value.json};
}

Answer make_answer(const Modes& value) {
  return std::visit([](const auto& own) { return make_answer(own); }, value.value);
}

Answer make_answer(const ComposedLayout& value) {
  if (value.is_plain()) return make_answer(value.layout());
  const Swizzle& swizzle = value.swizzle();
  const std::string text = to_string(value);
  return {text,
          {{"swizzle", {swizzle.bits(), swizzle.base(), swizzle.shift()}},
           {"offset", value.offset()},
           {"layout", make_answer(value.layout()).json},
           {"text", text}}};
}

Answer make_answer(const LayoutTV& value) {
  return {fmt::format("tiler     {}\nlayout_tv {}\nlayout_mn {}", to_string(value.tiler),
                      to_string(value.layout_tv), to_string(value.layout_mn)),
          {{"layout_mn", make_answer(value.layout_mn).json},
           {"tiler", to_json(value.tiler)},
           {"layout_tv", make_answer(value.layout_tv).json}}};
}

Answer make_answer(const BankConflicts& value) {
  return {
      fmt::format("wavefronts {}, without conflicts {}", value.wavefronts, value.ideal_wavefronts),
      {{"wavefronts", value.wavefronts}, {"ideal_wavefronts", value.ideal_wavefronts}}};
}

Answer make_answer(const std::optional<bool>& value) {
  return value ? make_answer(*value) : Answer{"undecided", nullptr};
}

Answer make_answer(const IntTuple& value) {
  return {to_string(value), to_json(value)};
}

Answer make_answer(const Layout& value) {
  const std::string text = to_string(value);
  return {text,
          {{"shape", to_json(value.shape())}, {"stride", to_json(value.stride())}, {"text", text}}};
}

}  // namespace tilejit::cli
