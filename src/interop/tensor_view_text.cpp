// Types and descriptions of tensors.

#include <fmt/format.h>

#include <numeric>

#include "interop/tensor_origin.hpp"
#include "interop/tensor_text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tensor_view.hpp"

namespace tilejit {
namespace {

std::string join(const std::vector<std::string>& texts, std::string_view between) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : between.data()) + text;
  return joined;
}

/// "f16, gmem, align<16>", as CuTe writes it: without the alignment of one element.
std::string pointer_text(const Engine& engine) {
  std::string text = fmt::format("{}, {}", to_string(engine.dtype), interop::name_of(engine.space));
  if (engine.align != size_bytes(engine.dtype)) text += fmt::format(", align<{}>", engine.align);
  return text;
}

/// The leaves of `texts`, nested as `profile`.
std::string nested_text(const Coordinate& profile, const std::string*& next) {
  if (profile.is_leaf()) return *next++;
  std::vector<std::string> modes;
  profile.for_each_mode([&](const Coordinate& mode) { modes.push_back(nested_text(mode, next)); });
  return "(" + join(modes, ",") + ")";
}

/// part(at), as text.
std::string move_text(const Layout& part, const Dim& at) {
  if (part.leaves().size() == 1) return to_string(at * part.leaves()[0].stride);
  return interop::layout_text(part) + "(" + to_string(at) + ")";
}

bool has_elements(const Layout& part) {
  for (const Mode& leaf : part.leaves()) {
    if (!leaf.stride.is(0)) return true;
  }
  return false;
}

std::string count_text(const Layout& layout) {
  return to_string(size(layout));
}

}  // namespace

std::string to_string(const TensorView& tensor) {
  if (!tensor.has_coordinates_) {
    return fmt::format("tensor<ptr<{}> o {}>", pointer_text(tensor.engine()),
                       interop::layout_text(tensor.layout_));
  }
  std::vector<std::string> numbers;
  const interop::Paths paths = interop::leaf_paths(tensor.origin_);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::int64_t known = tensor.origin_.leaves()[i].value();
    std::int64_t steps = 0;
    for (const auto& move : tensor.moves_)
      steps = std::gcd(steps, interop::divisor(interop::along(move.part, paths[i]), move.at));
    numbers.push_back(steps == 0 ? std::to_string(known)
                                 : to_string(Dim::unknown(std::gcd(steps, known))));
  }
  const std::string* next = numbers.data();
  return fmt::format("tensor<{} o {}>", nested_text(tensor.origin_, next),
                     interop::layout_text(tensor.layout_));
}

std::string memref_type(const TensorView& tensor) {
  return fmt::format("!cute.memref<{}, \"{}\">", pointer_text(tensor.engine()),
                     interop::layout_text(tensor.layout()));
}

std::string describe(const TensorView& tensor) {
  std::string text = to_string(tensor) + '\n';
  const auto line = [&](std::string_view topic, const std::string& what) {
    text += fmt::format("  {:<10}{}\n", topic, what);
  };
  const std::string count = count_text(tensor.layout_);
  line("shape", to_string(tensor.layout_.shape()));
  line("stride", to_string(tensor.layout_.stride()));
  std::vector<std::string> moves;
  if (tensor.has_coordinates_) {
    line("elements", count + " coordinates from " + to_string(tensor.origin_) + " on");
  } else {
    const Engine engine = tensor.engine();
    line("elements", fmt::format("{} of {}, {} bits each", count, to_string(engine.dtype),
                                 8 * size_bytes(engine.dtype)));
    line("memory", fmt::format("{}, a multiple of {} bytes{}", interop::name_of(engine.space),
                               engine.align, engine.read_only ? ", read-only" : ""));
    if (tensor.index_ != 0) moves.push_back(std::to_string(tensor.index_));
  }
  for (const TensorView::Move& move : tensor.moves_) {
    if (has_elements(move.part)) moves.push_back(move_text(move.part, move.at));
  }
  if (!moves.empty()) line("moved by", join(moves, " + "));
  return text;
}

}  // namespace tilejit
