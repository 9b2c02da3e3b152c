#include "atoms/emit_mma.hpp"

#include <array>
#include <charconv>

#include "atoms/ptx.hpp"
#include "core/text.hpp"
#include "layout/emit.hpp"
#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

/// A C++ type of the device library and its constraint in asm.
struct CudaType {
  std::string_view name;
  char constraint;
};

CudaType type_of(const MmaAtom& atom, Operand operand) {
  const std::string_view type = registers(atom, operand).type;
  if (type == "b64") return {"u64", 'l'};
  if (type == "f64") return {"f64", 'd'};
  if (type == "f32") return {"f32", 'f'};
  return {operand == Operand::c && atom.c == i32 ? "i32" : "u32", 'r'};
}

constexpr Operand kOperands[] = {Operand::a, Operand::b, Operand::c};

char letter(Operand operand) {
  return "ABC"[static_cast<int>(operand)];
}
char small_letter(Operand operand) {
  return "abc"[static_cast<int>(operand)];
}

/// "{%4, %5}"
std::string placeholders(int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + std::to_string(first + i);
  return text + '}';
}

/// `"r"(a[0]), "r"(a[1])`
std::string arguments(std::string_view constraint, std::string_view name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "\"" : ", \"") + std::string(constraint) + "\"(" + std::string(name) + '[' +
            std::to_string(i) + "])";
  }
  return text;
}

class AtomWriter {
 public:
  AtomWriter(const MmaAtom& atom, const Majors& majors, int steps)
      : atom_(atom), majors_(majors), steps_(steps) {}

  std::string write(std::string_view name) {
    out_ = "namespace tile {\n// " + instruction(atom_) + "\nstruct " + std::string(name) + " {\n";
    out_ += "  static constexpr int kM = " + std::to_string(atom_.m) +
            ", kN = " + std::to_string(atom_.n) + ", kK = " + std::to_string(atom_.k) +
            ", kThreads = " + std::to_string(threads(atom_)) + ";\n";
    out_ += "  static constexpr int kA = " + std::to_string(count(Operand::a)) +
            ", kB = " + std::to_string(count(Operand::b)) +
            ", kC = " + std::to_string(count(Operand::c)) + ";\n";
    for (const Operand operand : kOperands) {
      out_ += std::string("  using ") + letter(operand) + " = " +
              std::string(type_of(atom_, operand).name) + ";\n";
    }
    for (const Operand operand : kOperands) {
      if (in_shared_memory(atom_, operand)) continue;
      const ElementLayouts of = element_layouts(atom_, operand);
      write_coordinate("row_", operand, of.row);
      write_coordinate("column_", operand, of.column);
    }
    if (atom_.family == MmaFamily::wgmma && steps_ > 0) {
      write_wgmma_steps();
    } else if (atom_.family == MmaFamily::wgmma) {
      write_wgmma();
    } else {
      write_mma_sync();
    }
    return out_ + "};\n}  // namespace tile\n";
  }

 private:
  void write_coordinate(const char* name, Operand operand, const Layout& of) {
    const std::string index = layout::emit(of, std::array<std::string, 2>{"thread", "value"});
    out_ += std::string("  static TILE_DEVICE constexpr i32 ") + name + small_letter(operand) +
            "(i32 thread, i32 value) {\n    return " + index + ";\n  }\n";
  }

  [[nodiscard]] int count(Operand operand) const { return registers(atom_, operand).count; }
  [[nodiscard]] std::string constraint(Operand operand, const char* before = "") const {
    return before + std::string(1, type_of(atom_, operand).constraint);
  }

  void write_mma_sync() {
    const int c = count(Operand::c), a = count(Operand::a), b = count(Operand::b);
    out_ +=
        "  static TILE_DEVICE void fma(C (&d)[kC], const A (&a)[kA], const B (&b)[kB], "
        "const C (&c)[kC]) {\n    asm volatile(\"" +
        instruction(atom_) + ' ' + placeholders(0, c) + ", " + placeholders(c, a) + ", " +
        placeholders(c + a, b) + ", " + placeholders(c + a + b, c) +
        ";\"\n                 : " + arguments(constraint(Operand::c, "="), "d", c) +
        "\n                 : " + arguments(constraint(Operand::a), "a", a) + ", " +
        arguments(constraint(Operand::b), "b", b) + ", " +
        arguments(constraint(Operand::c), "c", c) + ");\n  }\n";
  }

  [[nodiscard]] bool from_registers() const { return atom_.a_source == ASource::registers; }

  /// d, and a predicate, whether it is added to: "wgmma... {%0, %1}, %2, %3, p, 1, 1;"
  [[nodiscard]] std::string async_product(int a, int b) const {
    return instruction(atom_) + ' ' + placeholders(0, count(Operand::c)) + ", " +
           (from_registers() ? placeholders(a, count(Operand::a)) : '%' + std::to_string(a)) +
           ", %" + std::to_string(b) + ", p" + immediates() + "; ";
  }

  void write_async(const std::string& head, const std::string& products, int scale,
                   const std::string& inputs) {
    out_ += "  " + head + " {\n    asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %" +
            std::to_string(scale) + ", 0; " + products + "}\"\n                 : " +
            arguments(constraint(Operand::c, "+"), "d", count(Operand::c)) +
            "\n                 : " + inputs + "\n                 : \"memory\");\n  }\n";
  }

  /// Scale-d is a constant: in a register it would cost a predicate at each step.
  void write_wgmma() {
    const int a = count(Operand::c), b = a + (from_registers() ? count(Operand::a) : 1);
    write_async(std::string("template <bool kClear>\n  static TILE_DEVICE void fma(C (&d)[kC], ") +
                    (from_registers() ? "const A (&a)[kA]" : "u64 a") + ", u64 b)",
                async_product(a, b), b + 1,
                (from_registers() ? arguments("r", "a", count(Operand::a)) : "\"l\"(a)") +
                    ", \"l\"(b), \"n\"(kClear ? 0 : 1)");
  }

  void write_wgmma_steps() {
    const int words = from_registers() ? count(Operand::a) : 1;
    const int a = count(Operand::c), b = a + words * steps_;
    std::string products, inputs;
    for (int j = 0; j < steps_; ++j) {
      if (j == 1) products += "setp.eq.b32 p, 0, 0; ";
      products += async_product(a + j * words, b + j);
      if (from_registers()) inputs += arguments("r", "a[" + std::to_string(j) + ']', words) + ", ";
    }
    if (!from_registers()) inputs = arguments("l", "a", steps_) + ", ";
    out_ += "  static constexpr int kSteps = " + std::to_string(steps_) + ";\n";
    write_async(std::string("static TILE_DEVICE void multiply(C (&d)[kC], ") +
                    (from_registers() ? "const A (&a)[kSteps][kA]" : "const u64 (&a)[kSteps]") +
                    ", const u64 (&b)[kSteps], bool adds)",
                products, b + steps_, inputs + arguments("l", "b", steps_) + ", \"r\"(int(adds))");
  }

  /// The factors of A and B, then whether they are MN-major.
  [[nodiscard]] std::string immediates() const {
    if (is_integer(atom_.a)) return "";
    std::string text = ", 1, 1";
    if (size_bytes(atom_.a) != 2) return text;
    const auto transposed = [](Major major) { return major == Major::mn ? ", 1" : ", 0"; };
    if (atom_.a_source == ASource::shared) text += transposed(majors_.a);
    return text + transposed(majors_.b);
  }

  const MmaAtom& atom_;
  const Majors& majors_;
  int steps_;
  std::string out_;
};

/// "0x4000004000010000"
std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits;
  const char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(static_cast<const char*>(digits.data()), end);
}

void check_name(std::string_view name) {
  if (core::is_identifier(name)) return;
  throw Error(ErrorCode::invalid_argument, "a type of a kernel is named by an identifier, found '" +
                                               core::shortened(std::string(name)) + "'");
}

void check_majors(const MmaAtom& atom, const Majors& majors) {
  if (majors == Majors{}) return;
  const bool has_majors = atom.family == MmaFamily::wgmma && size_bytes(atom.a) == 2 &&
                          (majors.a == Major::k || atom.a_source == ASource::shared);
  if (has_majors) return;
  throw Error(ErrorCode::invalid_argument,
              instruction(atom) +
                  " reads K-major operands only; transpose them on the way into shared memory, or "
                  "exchange A and B");
}

}  // namespace

std::string emit(const MmaAtom& atom, std::string_view name, const Majors& majors, int steps) {
  check_name(name);
  check_majors(atom, majors);
  return AtomWriter(atom, majors, steps).write(name);
}

std::string emit(const SharedTile& tile, std::string_view name, int rows, int depth) {
  check_name(name);
  const ComposedLayout whole = layout(tile);
  const MatrixDescriptor first = describe(tile, rows, depth, 0, 0);
  for (int mn = 0; mn < tile.mn / rows; ++mn) {
    for (int k = 0; k < tile.k / depth; ++k) {
      const MatrixDescriptor other = describe(tile, rows, depth, mn, k);
      if (other.leading != first.leading || other.stride != first.stride) {
        throw Error(ErrorCode::invalid_layout, "parts of a tile differ in their descriptors");
      }
    }
  }
  const Tiler part = std::vector<Tiler>{rows, depth};
  const Layout starts = mode(zipped_divide(whole.layout(), part), 1);
  const std::string bytes = std::to_string(tile.element_bytes);
  return "namespace tile {\n// " + to_string(whole) + ", in elements of " + bytes +
         " bytes\nstruct " + std::string(name) + " {\n  static constexpr u32 kBytes = " +
         std::to_string(tile.mn * tile.k * tile.element_bytes) +
         ", kAlign = " + std::to_string(alignment(tile)) + ";\n" +
         layout::emit_callable("Starts", starts, layout::IndexBits::b32) +
         "  static TILE_DEVICE u64 descriptor(u32 tile) {\n    return " + hexadecimal(first.bits) +
         "ull | ((tile & 0x3ffffu) >> 4);\n  }\n"
         "  static TILE_DEVICE constexpr u64 step(int mn, int k) {\n"
         "    return u64(Starts{}(mn, k)) * " +
         bytes + " / 16;\n  }\n};\n}  // namespace tile\n";
}

}  // namespace tilejit::atoms
