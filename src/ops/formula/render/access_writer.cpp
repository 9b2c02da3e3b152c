// How a vector of each operand is held, loaded, taken apart for the formula, and stored.
#include <algorithm>

#include <fmt/format.h>

#include "plan/rows.hpp"
#include "render/header_writer.hpp"

namespace tilejit::render {
namespace {

using plan::Operand;
using plan::OperandMode;
using plan::Param;
using plan::Reach;

bool computes_as_stored(DType dtype) {
  return !is_floating(dtype) ? dtype != b8 : dtype == f32 || dtype == f64;
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
  return (form == Form::contiguous || form == Form::packed) &&
         operand.access_bytes < std::min(16, plan_.vector * size_bytes(operand.dtype));
}

HeaderWriter::Form HeaderWriter::form_of(const Operand& operand) const {
  if (operand.reach == Reach::broadcast) return Form::one;
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
  line("#pragma unroll");
  line(fmt::format("    for (int e = 0; e < kVector; e += {}) {{", group()));
  for (const Operand& operand : plan_.operands) write_unpacking(operand, asked, true);
  for (int i = 0; i < group(); ++i) {
    std::string first = "p";
    if (rows_) first += rows_->along() ? ", r[0]" : fmt::format(", r[e + {}]", i);
    write_call(i, "formula", first, asked, true);
  }
  for (const Operand& operand : plan_.operands) write_packing(operand);
  line("    }");
}

/// Also declares the group's values of what is written in another type than it is computed.
void HeaderWriter::write_unpacking(const Operand& operand, const Asked& asked, bool outputs) {
  const std::string_view type = expr::compute_type(operand.dtype);
  const int k = operand.tensor;
  const bool packed = form_of(operand) == Form::packed;
  if (asked.tensors[static_cast<std::size_t>(k)] && packed) {
    const int per = per_word(operand);
    line(fmt::format("      {} x{}[{}];", type, k, group()));
    for (int i = 0; i < group() / per; ++i) {
      line(fmt::format("      unpack_word<{}>(in{}.{}, {});", storage_type(operand.dtype), k,
                       word(per, i), values('x', k, per, i)));
    }
  }
  if (outputs && writes_elements(operand) && (packed || !computes_as_stored(operand.dtype))) {
    line(fmt::format("      {} z{}[{}];", type, k, group()));
  }
}

void HeaderWriter::write_call(int i, const std::string& function, const std::string& first,
                              const Asked& asked, bool outputs) {
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
  line(fmt::format("      {}({});", function, arguments));
}

void HeaderWriter::write_packing(const Operand& operand) {
  if (!writes_elements(operand)) return;
  const std::string_view type = storage_type(operand.dtype);
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

bool HeaderWriter::belongs(const Operand& operand, Part part) const {
  switch (part) {
    case Part::direct_loads:
      return operand.read && !is_crossed(operand) &&
             (!rows_ || plan::is_loaded_with_row(*rows_, operand));
    case Part::direct_stores: return writes_elements(operand) && !is_crossed(operand);
    case Part::crossed_loads: return operand.read && is_crossed(operand);
    case Part::crossed_stores: return operand.written && is_crossed(operand);
  }
  return false;
}

std::string HeaderWriter::variable_of(const Operand& operand, bool loads) {
  if (is_crossed(operand)) return fmt::format("x{}[i]", operand.tensor);
  return fmt::format("{}{}", loads ? "in" : "out", operand.tensor);
}

std::string HeaderWriter::accesses(Part part) const {
  const bool loads = part == Part::direct_loads || part == Part::crossed_loads;
  std::string text;
  for (const Operand& operand : plan_.operands) {
    if (belongs(operand, part)) text += loads ? load_of(operand) : store_of(operand);
  }
  return text;
}

std::string HeaderWriter::store_of(const Operand& operand) const {
  const std::string address = fmt::format("p.t{}{}", operand.tensor, offset_of(operand));
  const std::string variable = variable_of(operand, false), rest = access_arguments(operand);
  if (stores_wide() && operand.reach != Reach::strided) {
    return fmt::format("    store_wide({}, {}{});\n", address, variable, rest);
  }
  return fmt::format("    {}.store({}{});\n", variable, address, rest);
}

std::string HeaderWriter::load_of(const Operand& operand) const {
  const std::string address =
      has_row_start(operand)
          ? fmt::format("row.from{}{}", operand.tensor, offset_of(operand.modes, Among::reduced))
          : fmt::format("p.t{}{}", operand.tensor, offset_of(operand));
  const std::string variable = variable_of(operand, true);
  const Form form = form_of(operand);
  if (form == Form::one) return fmt::format("    {} = *({});\n", variable, address);
  if (is_split(operand)) {
    const int elements = operand.access_bytes / size_bytes(operand.dtype);
    return fmt::format("    load_split<{}>({}, {}, {});\n", elements, variable, address,
                       may_be_partial(operand) ? "valid" : "kVector");
  }
  return fmt::format("    {}.load({}{});\n", variable, address, access_arguments(operand));
}

bool HeaderWriter::may_be_partial(const Operand& operand) const {
  return plan_.ragged && !is_crossed(operand);  // squares are whole
}

std::string HeaderWriter::value_of(const Dim& dim) const {
  if (dim.is_known()) return fmt::format("{}ll", dim.value());
  const auto found = std::ranges::find_if(
      plan_.params, [&](const Param& p) { return p.kind == Param::Kind::dim && p.dim == dim; });
  return "p." + found->name;
}

std::string HeaderWriter::share_of(const OperandMode& leaves, std::size_t m) const {
  const std::string coord = counts_elements()            ? fmt::format("c{}", m)
                            : m == 0 && plan_.vector > 1 ? "i64(c0) * kVector"
                                                         : fmt::format("i64(c{})", m);
  if (leaves.size() == 1) {
    const Dim& stride = leaves[0].stride;
    if (stride.is(0)) return {};
    return stride.is(1) ? coord : fmt::format("{} * {}", coord, value_of(stride));
  }
  std::string sum, before;
  for (const Mode& leaf : leaves) {
    const bool last = &leaf == &leaves.back();
    sum += fmt::format("{}i64({}){}{} * {}", sum.empty() ? "" : " + ", coord, before,
                       last ? "" : " % " + value_of(leaf.extent), value_of(leaf.stride));
    before += " / " + value_of(leaf.extent);
  }
  return sum;
}

std::string HeaderWriter::offset_of(const Operand& operand) const {
  return offset_of(operand.modes);
}

std::string HeaderWriter::offset_of(const std::vector<OperandMode>& modes, Among among) const {
  std::string offset;
  for (std::size_t m = 0; m < modes.size(); ++m) {
    if (among != Among::all && rows_->reduces(m) != (among == Among::reduced)) continue;
    const std::string share = share_of(modes[m], m);
    if (!share.empty()) offset += " + " + share;
  }
  return offset;
}

std::string HeaderWriter::places(const Asked& asked) const {
  std::string text;
  for (std::size_t k = 0; k < plan_.places.size(); ++k) {
    if (!asked.places[k]) continue;
    const std::string offset = offset_of(plan_.places[k].modes);
    text += fmt::format("    const i64 n{} = {};\n", k, offset.empty() ? "0" : offset.substr(3));
  }
  return text;
}

std::string HeaderWriter::place_stride(const plan::Place& place) const {
  const OperandMode& innermost = place.modes.front();
  return innermost.size() == 1 ? value_of(innermost[0].stride) : "0";
}

std::string HeaderWriter::access_arguments(const Operand& operand) const {
  if (operand.reach == Reach::broadcast) return {};
  if (operand.reach != Reach::strided) return may_be_partial(operand) ? ", valid" : "";
  // Neighbours without a common stride come in vectors of one.
  const OperandMode& innermost = operand.modes.front();
  return fmt::format(", {}, valid", innermost.size() == 1 ? value_of(innermost[0].stride) : "0");
}

std::string HeaderWriter::type_of(const Operand& operand) const {
  const std::string_view type = storage_type(operand.dtype);
  switch (form_of(operand)) {
    case Form::one: return std::string(type);
    case Form::contiguous: return fmt::format("Contiguous<{}, kVector>", type);
    case Form::packed: return fmt::format("Packed<{}, kVector>", type);
    case Form::strided: break;
  }
  return fmt::format("Strided<{}, kVector>", type);
}

}  // namespace tilejit::render
