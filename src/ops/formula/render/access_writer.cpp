// How a vector of each operand is held, loaded, taken apart for the formula, and stored.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plan/vectors.hpp"
#include "render/header_writer.hpp"

namespace tilejit::render {
namespace {

using plan::Operand;
using plan::OperandMode;
using plan::Reach;

bool computes_as_stored(DType dtype) {
  return !is_floating(dtype) ? dtype != b8 : dtype == f32 || dtype == f64;
}

/// The member of tile::Shifted that loads the operand's vectors.
std::string_view shifted_load_of(const plan::Plan& plan, const Operand& operand) {
  if (std::holds_alternative<plan::Tile>(plan.family)) return "load_in_tile";
  // Passes over rows that are held have all their weights under way at once.
  const auto* const rows = std::get_if<plan::Rows>(&plan.family);
  const bool held = rows != nullptr && rows->register_vectors > 0;
  return held && plan.peeled && operand.every_row ? "load_between" : "load";
}

/// ".element[e + 1]": element `i` of a group.
std::string element(int i) {
  return i == 0 ? ".element[e]" : fmt::format(".element[e + {}]", i);
}

/// "word[e / 2 + 1]": word `i` of a group.
std::string word(int per_word, int i) {
  return fmt::format("word[e / {}{}]", per_word, i == 0 ? "" : fmt::format(" + {}", i));
}

/// "x0 + 2": the values of word `i` of a group.
std::string values(char array, int k, int per_word, int i) {
  return fmt::format("{}{}{}", array, k, i == 0 ? "" : fmt::format(" + {}", i * per_word));
}

}  // namespace

bool HeaderWriter::is_split(const Operand& operand) const {
  const Form form = form_of(operand);
  return (form == Form::contiguous || form == Form::packed) && !plan_.peeled &&
         operand.access_bytes < std::min(16, plan_.vector * size_bytes(operand.dtype));
}

HeaderWriter::Form HeaderWriter::form_of(const Operand& operand) const {
  if (operand.reach == Reach::broadcast || operand.reach == Reach::product) return Form::one;
  if (operand.reach == Reach::strided) return Form::strided;
  return size_bytes(operand.dtype) < 4 && plan_.vector > 1 ? Form::packed : Form::contiguous;
}

int HeaderWriter::per_word(const Operand& operand) const {
  return std::min(plan_.vector, 4 / size_bytes(operand.dtype));
}

int HeaderWriter::group() const {
  int group = 1;
  for (const Operand& operand : plan_.operands) {
    if (form_of(operand) == Form::packed) group = std::max(group, per_word(operand));
  }
  return group;
}

void HeaderWriter::write_groups() {
  const Asked asked = asked_by_formula();
  out_ += shifts(asked);
  line("#pragma unroll");
  line(fmt::format("    for (int e = 0; e < kVector; e += {}) {{", group()));
  for (const Operand& operand : plan_.operands) write_unpacking(operand, asked, true);
  for (int i = 0; i < group(); ++i) write_call(i, "formula", "p" + own_arguments(i), asked, true);
  for (const Operand& operand : plan_.operands) write_packing(operand);
  line("    }");
}

/// Also declares the group's values of outputs that are stored in another type than the one that
/// computes them.
void HeaderWriter::write_unpacking(const Operand& operand, const Asked& asked, bool outputs) {
  const std::string_view type = expr::compute_type(operand.dtype);
  const int k = operand.tensor;
  const bool packed = form_of(operand) == Form::packed;
  if (asked.tensors[static_cast<std::size_t>(k)] && packed) {
    const int per = per_word(operand);
    line(fmt::format("      {} x{}[{}];", type, k, group()));
    for (int i = 0; i < group() / per; ++i) {
      line(fmt::format("      unpack_word<{}>(in{}.{}, {});", expr::storage_type(operand.dtype), k,
                       word(per, i), values('x', k, per, i)));
    }
  }
  if (outputs && writes_elements(operand) && (packed || !computes_as_stored(operand.dtype))) {
    line(fmt::format("      {} z{}[{}];", type, k, group()));
  }
}

std::string HeaderWriter::call(int i, const std::string& function, const std::string& first,
                               const Asked& asked, bool outputs) const {
  std::string arguments = first;
  for (std::size_t k = 0; k < plan_.places.size(); ++k) {
    if (!asked.places[k]) continue;
    arguments += fmt::format(", n{} + (e + {}) * {}", k, i, place_stride(plan_.places[k]));
  }
  for (const Operand& operand : plan_.operands) {
    const Form form = form_of(operand);
    const bool plain = computes_as_stored(operand.dtype);
    const int k = operand.tensor;
    if (asked.tensors[static_cast<std::size_t>(k)]) {
      const std::string held = fmt::format("in{}{}", k, form == Form::one ? "" : element(i));
      arguments += form == Form::packed ? fmt::format(", x{}[{}]", k, i)
                   : plain              ? ", " + held
                                        : fmt::format(", to_compute({})", held);
    }
    if (outputs && writes_elements(operand)) {
      const bool direct = form != Form::packed && plain;
      arguments +=
          direct ? fmt::format(", out{}{}", k, element(i)) : fmt::format(", z{}[{}]", k, i);
    }
  }
  return fmt::format("{}({})", function, arguments);
}

void HeaderWriter::write_call(int i, const std::string& function, const std::string& first,
                              const Asked& asked, bool outputs) {
  line(fmt::format("      {};", call(i, function, first, asked, outputs)));
}

void HeaderWriter::write_packing(const Operand& operand) {
  if (!writes_elements(operand)) return;
  const std::string_view type = expr::storage_type(operand.dtype);
  const int k = operand.tensor;
  if (form_of(operand) == Form::packed) {
    const int per = per_word(operand);
    for (int i = 0; i < group() / per; ++i) {
      line(fmt::format("      pack_word<{}>(out{}.{}, {});", type, k, word(per, i),
                       values('z', k, per, i)));
    }
  } else if (!computes_as_stored(operand.dtype)) {
    for (int i = 0; i < group(); ++i) {
      line(fmt::format("      out{0}{1} = store_as<{2}>(z{0}[{3}]);", k, element(i), type, i));
    }
  }
}

bool HeaderWriter::writes_elements(const Operand& operand) noexcept {
  return operand.written && !operand.per_row;
}

void HeaderWriter::write_inputs() {
  for (const Operand& operand : plan_.operands) {
    if (!is_loaded(operand)) continue;
    line(fmt::format("  {} {};", loaded_type(operand), loaded_name(operand)));
  }
}

std::string HeaderWriter::loaded_type(const Operand& operand) const {
  return operand.shifted ? fmt::format("Shifted<{}>", type_of(operand)) : type_of(operand);
}

std::string HeaderWriter::loaded_name(const Operand& operand) {
  return fmt::format("{}{}", operand.shifted ? "raw" : "in", operand.tensor);
}

std::string HeaderWriter::shift_of(const Operand& operand) const {
  if (!operand.shifted) return {};
  return fmt::format("    const {} in{} = {}.get();\n", type_of(operand), operand.tensor,
                     loaded_name(operand));
}

std::string HeaderWriter::shifts(const Asked& asked) const {
  std::string text;
  for (const Operand& operand : plan_.operands) {
    if (is_loaded(operand) && asked.tensors[static_cast<std::size_t>(operand.tensor)])
      text += shift_of(operand);
  }
  return text;
}

void HeaderWriter::write_outputs() {
  for (const Operand& operand : plan_.operands) {
    if (!writes_elements(operand)) continue;
    line(fmt::format("    {} out{};", type_of(operand), operand.tensor));
  }
}

std::string HeaderWriter::variable_of(const Operand& operand, bool loads) const {
  return loads ? loaded_name(operand) : fmt::format("out{}", operand.tensor);
}

Code HeaderWriter::source_of(const Operand& operand) const {
  return address_of(operand);
}

std::string HeaderWriter::base_of(const Operand& operand) {
  return operand.offset == 0 ? fmt::format("p.t{}", operand.tensor)
                             : fmt::format("(p.t{} + {})", operand.tensor, operand.offset);
}

Code HeaderWriter::address_of(const Operand& operand) const {
  Code address = offset_of(operand.modes);
  address.text.insert(0, base_of(operand));
  return address;
}

Code HeaderWriter::loads(Part part) const {
  Code code;
  for (const Operand& operand : plan_.operands) {
    const bool apart = part != Part::some && is_gathered(operand);
    if (is_loaded(operand) && !apart) code += load_of(operand, part);
  }
  return code;
}

Code HeaderWriter::gathers() const {
  Code code;
  for (const Operand& operand : plan_.operands) {
    if (is_loaded(operand) && is_gathered(operand)) code += gather_of(operand);
  }
  return code;
}

bool HeaderWriter::is_gathered(const Operand& operand) const {
  return operand.reach == Reach::strided && operand.modes.front().size() > 1 && plan_.vector > 1;
}

Code HeaderWriter::stores() const {
  Code code;
  for (const Operand& operand : plan_.operands) {
    if (is_stored(operand)) code += store_of(operand);
  }
  return code;
}

Code HeaderWriter::store_of(const Operand& operand) const {
  const std::string variable = variable_of(operand, false);
  const Code rest = access_arguments(operand);
  Code code = destination_of(operand);
  const std::string address = std::move(code.text);
  const char* const function = plan_.peeled      ? "store_peeled"
                               : operand.shifted ? "store_shifted"
                               : stores_wide(operand) && operand.reach != Reach::strided
                                   ? "store_wide"
                                   : nullptr;
  code.text = function != nullptr
                  ? fmt::format("    {}({}, {}{});\n", function, address, variable, rest.text)
                  : fmt::format("    {}.store({}{});\n", variable, address, rest.text);
  code.valid = rest.valid;
  return code;
}

Code HeaderWriter::load_of(const Operand& operand, Part part) const {
  const std::string variable = variable_of(operand, true);
  Code code = source_of(operand);
  const bool side_by_side =
      form_of(operand) == Form::contiguous || form_of(operand) == Form::packed;
  if (form_of(operand) == Form::one) {
    code.text = fmt::format("    {} = *({});\n", variable, code.text);
  } else if (operand.shifted) {
    // Vectors of peeled rows may begin before their tensor.
    const std::string begin = plan_.peeled ? ", " + base_of(operand) : "";
    code.text = fmt::format("    {}.{}<{}>({}{}, {});\n", variable, shifted_load_of(plan_, operand),
                            tail_of(operand), code.text, begin, end_of(operand));
  } else if (plan_.peeled) {
    const Code rest = access_arguments(operand);
    code.valid = rest.valid;
    const bool strided = operand.reach == Reach::strided;
    // What lies in its row to the end lies before the tensor's end.
    const int tail = part == Part::all ? 0 : tail_of(operand);
    code.text = strided
                    ? fmt::format("    load_peeled({}, {}{});\n", variable, code.text, rest.text)
                    : fmt::format("    load_peeled<{}>({}, {}, {}{});\n", tail, variable, code.text,
                                  end_of(operand), rest.text);
  } else if (side_by_side && part == Part::end) {
    code = {.text = fmt::format("    {}.load_end({}, valid);\n", variable, code.text),
            .coordinates = code.coordinates,
            .valid = true};
  } else if (is_split(operand)) {
    code.valid = part == Part::some && may_be_partial(operand);
    code.text = fmt::format("    load_split<{}>({}, {}, {});\n",
                            operand.access_bytes / size_bytes(operand.dtype), variable, code.text,
                            code.valid ? "valid" : "kVector");
  } else if (is_gathered(operand)) {
    return gather_of(operand);
  } else {
    const Code rest = access_arguments(operand, part);
    code.valid = rest.valid;
    code.text = fmt::format("    {}.load({}{});\n", variable, code.text, rest.text);
  }
  return code;
}

Code HeaderWriter::gather_of(const Operand& operand) const {
  const OperandMode& leaves = operand.modes.front();
  const OperandMode outer(leaves.begin() + 1, leaves.end());
  const std::int64_t length = leaves.front().extent.value();
  const std::string stride = value_of(leaves.front().stride);
  Code code{.text = base_of(operand)};
  for (std::size_t m = 1; m < operand.modes.size(); ++m) code += share_of(operand.modes[m], m);
  // Element e of the vector lies in row e / length of those that it meets, or in the next one. Rows
  // that do not exist are replaced by the first one, so that no element needs a guard.
  std::string rows, values;
  for (std::int64_t j = 0; j < plan::rows_of_vector(operand, plan_.vector); ++j) {
    const std::string row =
        j == 0 ? "turn" : fmt::format("(turn + (at + valid > {} ? {} : 0))", j * length, j);
    rows += fmt::format("{}\n          {} + (i64(at) - {}) * {}{}", j == 0 ? "" : ",", code.text,
                        j * length, stride, share_of(outer, 0, row).text);
    values += fmt::format("{}*row[{}]", j == 0 ? "" : ", ", j);
  }
  const std::string_view type = expr::storage_type(operand.dtype);
  std::string text = fmt::format(
      "    {{\n"
      "      const Index turn = c0 * kVector / Index({0}), at = c0 * kVector % Index({0});\n"
      "      const {1}* const row[] = {{{2}}};\n",
      length, type, rows);
  const bool repeats = leaves.front().stride.is(0);
  if (repeats) text += fmt::format("      const {} value[] = {{{}}};\n", type, values);
  text += fmt::format(
      "#pragma unroll\n"
      "      for (int e = 0; e < kVector; ++e) {{\n"
      "        const bool next = at + e % {0} >= {0};\n"
      "        {1}.element[e] = {2};\n"
      "      }}\n"
      "    }}\n",
      length, variable_of(operand, true),
      repeats ? fmt::format("next ? value[e / {0} + 1] : value[e / {0}]", length)
              : fmt::format("(next ? row[e / {0} + 1] : row[e / {0}])[e * {1}]", length, stride));
  code.text = std::move(text);
  code.coordinates.insert(0);
  code.valid = true;
  return code;
}

std::string HeaderWriter::end_of(const Operand& operand) const {
  const Tensor& tensor = plan_.signature.tensors[static_cast<std::size_t>(operand.tensor)];
  return fmt::format("{} + {}", base_of(operand), value_of(cosize(tensor.layout)));
}

std::int64_t HeaderWriter::tail_of(const Operand& operand) const {
  return tail_of(operand, plan_.vector);
}

std::int64_t HeaderWriter::tail_of(const Operand& operand, int chunk) const {
  constexpr std::uint32_t kAligned = 16;  // bytes: chunks of any size begin where the tensor does
  const Tensor& tensor = plan_.signature.tensors[static_cast<std::size_t>(operand.tensor)];
  if (tensor.align % kAligned != 0) return -1;
  return cosize(tensor.layout) % chunk;
}

Code HeaderWriter::access_arguments(const Operand& operand, Part part) const {
  if (operand.reach == Reach::broadcast) return {};
  if (operand.reach != Reach::strided) {
    if (part == Part::all || !may_be_partial(operand)) return {};
    return {.text = plan_.peeled ? ", exists" : ", valid", .valid = true};
  }
  if (part == Part::all) return {.text = fmt::format(", {}, kVector", stride_of(operand))};
  return {.text = fmt::format(", {}, {}", stride_of(operand), plan_.peeled ? "exists" : "valid"),
          .valid = true};
}

std::string HeaderWriter::stride_of(const Operand& operand) const {
  // If neighbours have no common stride, vectors have one element.
  const OperandMode& innermost = operand.modes.front();
  return innermost.size() == 1 ? value_of(innermost[0].stride) : "0";
}

std::string HeaderWriter::type_of(const Operand& operand) const {
  const std::string_view type = expr::storage_type(operand.dtype);
  switch (form_of(operand)) {
    case Form::one: return std::string(type);
    case Form::contiguous: return fmt::format("Contiguous<{}, kVector>", type);
    case Form::packed: return fmt::format("Packed<{}, kVector>", type);
    case Form::strided: break;
  }
  return fmt::format("Strided<{}, kVector>", type);
}

}  // namespace tilejit::render
