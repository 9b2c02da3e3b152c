#include "box/box_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "box/walks.hpp"
#include "sheared/shearing.hpp"

namespace tilejit::render {
using plan::Operand;
using plan::Transposed;
using plan::Walk;

bool BoxWriter::is_loaded(const Operand& operand) const {
  return operand.read && transposed_of(box_, operand) == nullptr;
}

/// Guards keep the functions of several elements apart, where the compiler would mix them. Copied
/// runs leave what they find outside the space, for which a function may take much longer.
bool BoxWriter::computes_all(const plan::Plan& plan, const plan::Box& box) {
  const auto is_costly = [](const expr::Node& node) { return expr::weight(node) > 1; };
  return std::ranges::any_of(plan.program.nodes, is_costly) &&
         std::ranges::all_of(box.transposed, [](const Transposed& one) { return one.run.empty(); });
}

bool BoxWriter::is_stored(const Operand& operand) const {
  return operand.written && transposed_of(box_, operand) == nullptr;
}

std::vector<std::string_view> BoxWriter::own_headers() const {
  const auto has_runs = [](const Transposed& transposed) { return !transposed.run.empty(); };
  const auto has_words = [](const Transposed& transposed) { return transposed.walk.vector > 1; };
  if (std::ranges::none_of(box_.transposed, has_runs)) {
    if (plan_.vector > 1 || std::ranges::any_of(box_.transposed, has_words))
      return {"dependent", "contiguous"};
    return {"dependent"};
  }
  return {"dependent", "runs"};
}

std::string BoxWriter::element_of(const Operand& operand, const char* prefix) const {
  const bool one = form_of(operand) == Form::one;
  return fmt::format("{}{}{}", prefix, operand.tensor, one ? "" : ".element[0]");
}

void BoxWriter::write_constants() {
  write_block();
  std::string extents;
  for (const std::int64_t extent : box_.extents) {
    extents += fmt::format("{}{}", extents.empty() ? "" : ",", extent);
  }
  const bool stores = std::ranges::any_of(box_.transposed, [&](const Transposed& transposed) {
    return operand_of(plan_, transposed).written;
  });
  line(fmt::format("constexpr int kCopies = {};  // of an element's code", direct_.copies()));
  line(fmt::format("constexpr int kGroups = {};  // times that a thread takes so many",
                   direct_.groups()));
  line(fmt::format("constexpr bool kComputesAll = {};  // of a box, whatever the space cuts off",
                   computes_all_));
  line(fmt::format("constexpr bool kTransposedOutputs = {};\n", stores));
  line(fmt::format("// A block's box has ({}) elements.\n", extents));
}

void BoxWriter::write_behind_formula() {
  write_shared();
  write_tile();
  write_direct_walk();
  write_element();
  for (const Transposed& transposed : box_.transposed) {
    transposed.run.empty() ? write_transposed(transposed) : write_runs(transposed);
  }
  write_all_transposed();
}

void BoxWriter::write_shared() {
  line("struct Shared {");
  for (const Transposed& transposed : box_.transposed) {
    const std::string_view words = plan_.vector > 1         ? "alignas(16) "
                                   : transposed.run.empty() ? ""
                                                            : "alignas(4) ";
    line(fmt::format("  {}{} x{}[{}];", words,
                     expr::storage_type(operand_of(plan_, transposed).dtype), transposed.tensor,
                     transposed.elements));
  }
  line("};\n");
}

void BoxWriter::write_tile() {
  line("// Where a block's box begins, and the elements along the modes that may cut it off.");
  line("struct Tile {");
  write_members();
  for (std::size_t m = 0; m < box_.extents.size(); ++m) {
    if (is_ragged(m)) line(fmt::format("  u32 n{};", m));
  }
  if (plan_.peeled) line("  u32 before;  // elements along mode 0 that lie before the space");
  line("};\n");
  line("TILE_DEVICE Tile tile_at(const Params& p, u32 t) {\n  Tile tile;");
  write_origin();
  if (plan_.peeled) write_shear();
  for (std::size_t m = 0; m < box_.extents.size(); ++m) {
    if (!is_ragged(m)) continue;
    line(fmt::format("  const i64 left{} = {} - tile.c{};", m, value_of(plan_.extents[m]), m));
    line(fmt::format("  tile.n{0} = left{0} < {1} ? u32(left{0}) : {1};", m, box_.extents[m]));
  }
  line("  return tile;\n}\n");
}

void BoxWriter::write_shear() {
  const auto output = std::ranges::find_if(plan_.operands, &Operand::written);
  const int sector = plan::shear_of(plan_);
  std::string row;
  for (std::size_t m = 1; m < box_.extents.size(); ++m) {
    const std::int64_t behind = plan::stride_of(*output, m) % sector;
    if (behind != 0)
      row += fmt::format("{}u32(tile.c{}) * {}", row.empty() ? "" : " + ", m, behind);
  }
  line(fmt::format("  tile.c0 -= ({}) % {};  // to where a sector begins", row, sector));
  line("  tile.before = tile.c0 < 0 ? u32(-tile.c0) : 0;");
}

void BoxWriter::write_walk(const Walk& walk) {
  const bool direct = &walk == &box_.direct;
  const StepCode code = direct ? direct_ : StepCode(box_, walk, steps_of(box_, walk));
  const std::string step = direct ? "g, i" : "i", numbers = direct ? "int g, int i" : "int i";
  line(fmt::format("  static constexpr u32 kActive = {};  // threads that have elements",
                   threads_of(walk)));
  if (!direct) line(fmt::format("  static constexpr int kSteps = {};", code.copies()));
  const int sector = plan_.peeled ? plan::shear_of(plan_) : 0;
  std::string declarations, digits, exists, fits;
  for (std::size_t i = 0; i < walk.modes.size(); ++i) {
    const std::size_t m = walk.modes[i];
    const std::int64_t vector = i == 0 ? walk.vector : 1, steps = code.steps_along(i);
    const std::int64_t threads = walk.threads[i] * vector;  // elements of a step
    declarations += fmt::format("{} i{}", i == 0 ? "  u32" : ",", m);
    const bool last = i + 1 == walk.modes.size();
    digits +=
        fmt::format("    i{} = t{}{};\n", m, last ? "" : fmt::format(" % {}", walk.threads[i]),
                    vector == 1 ? "" : fmt::format(" * {}", vector));
    if (!last) digits += fmt::format("    t /= {};\n", walk.threads[i]);
    std::string coordinate = fmt::format("i{}", m), cut = fmt::format("i{0} < tile.n{0}", m);
    if (steps > 1) {
      line(fmt::format("  TILE_DEVICE static constexpr u32 step{}({}) {{ return {}{}; }}", m,
                       numbers, code.text(i), threads == 1 ? "" : fmt::format(" * {}", threads)));
      coordinate += fmt::format(" + step{}({})", m, step);
      // A constant, and a difference that all steps share: one instruction.
      cut = fmt::format("i32(step{0}({1})) < i32(tile.n{0} - i{0})", m, step);
    }
    std::string within;
    if (threads * steps != box_.extents[m]) {
      within = fmt::format(" && (step{}({}) + {} <= {} || {} < {})", m, step, threads,
                           box_.extents[m], coordinate, box_.extents[m]);
    }
    fits += within;
    exists += is_ragged(m) ? " && " + cut : within;
    if (m == 0 && plan_.peeled) {
      const std::string behind = steps == 1 ? "" : fmt::format("step0({}) >= {} || ", step, sector);
      exists += fmt::format(" && ({}{} >= tile.before)", behind, coordinate);
    }
  }
  line(declarations + ";  // of a thread's first element\n");
  line("  TILE_DEVICE void begin(u32 t) {");
  out_ += digits;
  line("  }");
  line(fmt::format("  TILE_DEVICE bool exists(const Tile& tile, {}) const {{ return {}; }}",
                   numbers, exists.empty() ? "true" : exists.substr(4)));
  line("  // Whether the step is within the box, of which the space may cut off a part.");
  line(fmt::format("  TILE_DEVICE bool fits({}) const {{ return {}; }}", numbers,
                   fits.empty() ? "true" : fits.substr(4)));
}

std::string BoxWriter::coordinates(const Walk& walk, const Code& code) const {
  std::string text;
  for (const std::size_t m : code.coordinates) {
    const bool within = std::ranges::count(walk.modes, m) != 0;
    text += fmt::format("    const i64 c{0} = tile.c{0}{1};\n", m,
                        within ? fmt::format(" + i{}", m) : "");
  }
  return text;
}

std::string BoxWriter::distance(const Walk& walk, const std::vector<std::string>& strides,
                                std::string_view type) const {
  std::string text;
  for (std::size_t i = 0; i < walk.modes.size(); ++i) {
    const std::size_t m = walk.modes[i];
    if (strides[m].empty() || steps_along(box_, walk, i) == 1) continue;
    const bool direct = &walk == &box_.direct;
    const std::string step =
        fmt::format("{}step{}({})", direct ? "Direct::" : "", m, direct ? "g, i" : "i");
    text += fmt::format("{}{}({}) * {}", text.empty() ? "" : " + ", type, step, strides[m]);
  }
  return text.empty() ? "0" : text;
}

std::string BoxWriter::distance_in_memory(const Walk& walk,
                                          const std::vector<plan::OperandMode>& modes) const {
  std::vector<std::string> strides;
  for (const plan::OperandMode& leaves : modes) {
    const Dim& stride = leaves[0].stride;
    strides.push_back(stride.is(0) ? "" : value_of(stride));
  }
  return distance(walk, strides, "i64");
}

std::string BoxWriter::shared_begin(const Walk& walk, const Transposed& transposed) {
  std::string text;
  for (const std::size_t m : walk.modes) {
    if (transposed.pitch[m] == 0) continue;
    text += fmt::format("{}i{} * {}", text.empty() ? "" : " + ", m, transposed.pitch[m]);
  }
  return text.empty() ? "0" : text;
}

std::string BoxWriter::shared_distance(const Walk& walk, const Transposed& transposed) const {
  std::vector<std::string> pitches;
  for (const std::int64_t pitch : transposed.pitch) {
    pitches.push_back(pitch == 0 ? "" : fmt::format("{}", pitch));
  }
  return distance(walk, pitches, "i32");
}

void BoxWriter::write_direct_walk() {
  const Walk& walk = box_.direct;
  const Asked asked = asked_by_formula();
  Code code = places(asked);
  line(
      "// Where a thread's elements lie in the operands that are not transposed, and in shared "
      "memory.");
  line("struct Direct {");
  write_walk(walk);
  std::string begins = code.text;
  for (std::size_t k = 0; k < plan_.places.size(); ++k) {
    if (!asked.places[k]) continue;
    line(fmt::format("  i64 place{};", k));
    begins += fmt::format("    place{0} = n{0};\n", k);
  }
  for (const Operand& operand : plan_.operands) {
    const int k = operand.tensor;
    if (const Transposed* const transposed = transposed_of(box_, operand)) {
      line(fmt::format("  {}* s{};", expr::storage_type(operand.dtype), k));
      begins += fmt::format("    s{0} = shared.x{0} + {1}", k, shared_begin(walk, *transposed));
      if (!transposed->run.empty()) {
        const Code source = source_of(operand);
        begins +=
            fmt::format(" + elements_before({}{})", source.text, distance_in_run(*transposed));
        code += source;
      }
      begins += ";\n";
      continue;
    }
    line(fmt::format("  {}{}* t{};", operand.written ? "" : "const ",
                     expr::storage_type(operand.dtype), k));
    const Code source = source_of(operand);
    begins += fmt::format("    t{} = {};\n", k, source.text);
    code += source;
  }
  line("\n  TILE_DEVICE Direct(const Params& p, const Tile& tile, Shared& shared) {");
  line("    begin(threadIdx.x);");
  out_ += coordinates(walk, code) + begins;
  line("  }\n};\n");
}

/// A turn of the loop over groups loads for the next one while others still use what they have.
std::string BoxWriter::first_alike(const Operand& operand) const {
  if (direct_.groups() > 1) return {};
  std::vector<bool> varies;
  for (const std::size_t m : box_.direct.modes) varies.push_back(plan::stride_of(operand, m) != 0);
  return direct_.first_alike(varies);
}

void BoxWriter::write_direct_load(const Operand& operand) {
  const std::string distance = distance_in_memory(box_.direct, operand.modes);
  const int k = operand.tensor;
  // Loads of one value into several elements would wait for each other.
  const std::string first = first_alike(operand);
  if (!first.empty()) line(fmt::format("    if ({} == u32(i)) {{", first));
  if (plan_.vector == 1 || form_of(operand) == Form::one) {
    line(fmt::format("    {} = at.t{}[{}];", element_of(operand, "in"), k, distance));
  } else if (operand.reach == plan::Reach::contiguous) {
    line(fmt::format("    in{}.load(at.t{} + ({}));", k, k, distance));
  } else {
    line("#pragma unroll");
    line(fmt::format("    for (int e = 0; e < kVector; ++e) in{}.element[e] = at.t{}[{} + e * {}];",
                     k, k, distance, value_of(operand.modes.front()[0].stride)));
  }
  if (!first.empty()) line("    }");
}

void BoxWriter::write_shared_load(const Operand& operand, const std::string& element) {
  const Transposed& transposed = *transposed_of(box_, operand);
  const int k = operand.tensor;
  if (plan_.vector == 1)
    return line(fmt::format("    {} = {};", element_of(operand, "in"), element));
  bool aligned = transposed.run.empty() && transposed.pitch[0] == 1;
  for (std::size_t m = 1; m < transposed.pitch.size(); ++m)
    aligned = aligned && transposed.pitch[m] % plan_.vector == 0;
  if (aligned) return line(fmt::format("    in{}.load(&{});", k, element));
  line(fmt::format("    Contiguous<{}, kVector> x{};\n#pragma unroll",
                   expr::storage_type(operand.dtype), k));
  line(fmt::format("    for (int e = 0; e < kVector; ++e) x{}.element[e] = (&{})[e * {}];", k,
                   element, transposed.pitch[0]));
  line(fmt::format("    in{0}.load(x{0}.element);", k));
}

void BoxWriter::write_element() {
  const Walk& walk = box_.direct;
  const Asked asked = asked_by_formula();
  line("// A thread's element of step (g, i), of every operand.");
  line("struct Element {");
  for (const Operand& operand : plan_.operands) {
    if (is_loaded(operand))
      line(fmt::format("  {} {}{};", loaded_type(operand), loaded_name(operand), initial()));
  }
  line("\n  TILE_DEVICE void load(const Direct& at, int g, int i) {");
  for (const Operand& operand : plan_.operands) {
    if (!is_loaded(operand)) continue;
    write_direct_load(operand);
  }
  line("  }");
  line(
      "  TILE_DEVICE void map(const Params& p, const Direct& at, const Tile& tile, "
      "const Element* all, int g, int i) const {");
  for (const Operand& operand : plan_.operands) {
    if (!is_loaded(operand)) continue;
    if (const std::string first = first_alike(operand); !first.empty())
      line(fmt::format("    const {0} {1} = all[{2}].{1};", loaded_type(operand),
                       loaded_name(operand), first));
  }
  const auto shared_element = [&](const Operand& operand) {
    return fmt::format("at.s{}[{}]", operand.tensor,
                       shared_distance(walk, *transposed_of(box_, operand)));
  };
  for (const Operand& operand : plan_.operands) {
    if (operand.read && transposed_of(box_, operand) != nullptr) {
      line(fmt::format("    {} in{};", type_of(operand), operand.tensor));
      write_shared_load(operand, shared_element(operand));
    }
  }
  write_outputs();
  for (std::size_t k = 0; k < plan_.places.size(); ++k) {
    if (!asked.places[k]) continue;
    line(fmt::format("    const i64 n{0} = at.place{0} + {1};", k,
                     distance_in_memory(walk, plan_.places[k].modes)));
  }
  write_groups();
  for (const Operand& operand : plan_.operands) {
    if (!operand.written) continue;
    const std::string to =
        transposed_of(box_, operand) != nullptr
            ? shared_element(operand)
            : fmt::format("at.t{}[{}]", operand.tensor, distance_in_memory(walk, operand.modes));
    const bool guarded = computes_all_ && transposed_of(box_, operand) == nullptr;
    const char* const where = guarded ? "if (at.exists(tile, g, i)) " : "";
    line(plan_.vector == 1 ? fmt::format("    {}{} = {};", where, to, element_of(operand, "out"))
                           : fmt::format("    {}out{}.store(&{});", where, operand.tensor, to));
  }
  line("  }\n};\n");
}

void BoxWriter::write_transposed(const Transposed& transposed) {
  const Operand& operand = operand_of(plan_, transposed);
  const Walk& walk = transposed.walk;
  const int k = operand.tensor;
  const std::string type(expr::storage_type(operand.dtype));
  const Code source = source_of(operand);
  const auto write_loop = [&](const char* condition, const std::string& statement) {
    line("    if (threadIdx.x >= kActive) return;\n#pragma unroll");
    line("    for (int i = 0; i < kSteps; ++i) {");
    line(fmt::format("      if ({}) {};\n    }}\n  }}", condition, statement));
  };
  const std::string global = fmt::format("t[{}]", distance_in_memory(walk, operand.modes));
  const std::string shared = fmt::format("s[{}]", shared_distance(walk, transposed));
  line(
      fmt::format("// The elements of operand {} that a thread moves, in the operand's order.", k));
  line(fmt::format("struct Transposed{} {{", k));
  write_walk(walk);
  line(fmt::format("  {}{}* t;  // the first one\n  {}* s;  // the same in shared memory",
                   operand.written ? "" : "const ", type, type));
  const std::int64_t vector = walk.vector;
  const std::string word = vector == 1 ? type : fmt::format("Contiguous<{}, {}>", type, vector);
  if (operand.read) line(fmt::format("  {} x[kSteps]{};", word, initial()));
  line(fmt::format(
      "\n  TILE_DEVICE Transposed{}(const Params& p, const Tile& tile, Shared& shared) {{", k));
  line("    begin(threadIdx.x);");
  out_ += coordinates(walk, source);
  line(fmt::format("    t = {};\n    s = shared.x{} + {};\n  }}", source.text, k,
                   shared_begin(walk, transposed)));
  if (operand.read) {
    line("  TILE_DEVICE void load(const Tile& tile) {");
    write_loop("exists(tile, i)", vector == 1 ? "x[i] = " + global : "x[i].load(&" + global + ")");
    line("  TILE_DEVICE void put() const {");
    const std::string elements =
        fmt::format("for (int e = 0; e < {}; ++e) (&{})[e * {}] = x[i].element[e]", vector, shared,
                    walk.modes.empty() ? 0 : transposed.pitch[walk.modes.front()]);
    write_loop("fits(i)", vector == 1 ? shared + " = x[i]" : elements);
  }
  if (operand.written) {
    line("  TILE_DEVICE void store(const Tile& tile) const {");
    write_loop("exists(tile, i)", global + " = " + shared);
  }
  line("};\n");
}

std::string BoxWriter::distance_in_run(const Transposed& transposed) const {
  std::string text;
  for (const std::size_t m : transposed.run) {
    text += fmt::format(" - i{} * {}", m, transposed.pitch[m]);
  }
  return text;
}

void BoxWriter::write_run_at(const Transposed& transposed) {
  const Operand& operand = operand_of(plan_, transposed);
  std::string distance, outside;
  std::string rest = "r";
  std::int64_t inner = 1;
  for (const std::size_t m : transposed.walk.modes) {
    const std::int64_t extent = box_.extents[m];
    if (std::ranges::count(transposed.run, m) != 0) {
      if (m != transposed.run.back()) inner *= extent;
      continue;
    }
    const std::string i = fmt::format("{} % {}", rest, extent);
    distance += fmt::format(" + i64({}) * {}", i, value_of(operand.modes[m][0].stride));
    if (is_ragged(m)) outside += fmt::format(" || {} >= tile.n{}", i, m);
    rest += fmt::format(" / {}", extent);
  }
  const std::size_t last = transposed.run.back();
  line(fmt::format(
      "    const int valid = int({}) * {};",
      is_ragged(last) ? fmt::format("tile.n{}", last) : fmt::format("{}", box_.extents[last]),
      inner));
  const std::string run = fmt::format("t{}", distance);
  line(fmt::format(
      "    const auto run_at = [&]([[maybe_unused]] u32 r) {{ return {}; }};",
      outside.empty() ? run : fmt::format("{} ? nullptr : {}", outside.substr(4), run)));
}

void BoxWriter::write_runs(const Transposed& transposed) {
  const Operand& operand = operand_of(plan_, transposed);
  const int k = operand.tensor, bytes = size_bytes(operand.dtype);
  const plan::Runs runs = runs_of(box_, transposed, bytes);
  const std::string type(expr::storage_type(operand.dtype));
  const Code source = source_of(operand);
  line(fmt::format("// The chunks of operand {}'s runs that a thread moves.", k));
  line(fmt::format("struct Transposed{} {{", k));
  line(fmt::format("  const {0}* t;  // the box's first element\n  {0}* s;  // shared memory",
                   type));
  line(fmt::format("  Runs<{}, {}, {}, {}, kThreads> runs;", type, runs.elements, runs.count,
                   transposed.elements / runs.count * bytes / 4));
  line(fmt::format(
      "\n  TILE_DEVICE Transposed{}(const Params& p, const Tile& tile, Shared& shared) {{", k));
  for (const std::size_t m : source.coordinates)
    line(fmt::format("    const i64 c{0} = tile.c{0};", m));
  line(fmt::format("    t = {};\n    s = shared.x{};\n  }}", source.text, k));
  line("  TILE_DEVICE void load(const Params& p, const Tile& tile) {");
  write_run_at(transposed);
  line(fmt::format("    runs.load<{}>(run_at, valid, {});\n  }}",
                   tail_of(operand, plan::kChunkBytes / bytes), end_of(operand)));
  line("  TILE_DEVICE void put() const { runs.put(reinterpret_cast<u32*>(s)); }\n};");
}

void BoxWriter::write_all_transposed() {
  std::string members, initial, loads, puts, stores;
  for (const Transposed& transposed : box_.transposed) {
    const Operand& operand = operand_of(plan_, transposed);
    const int k = operand.tensor;
    members += fmt::format("  Transposed{0} s{0};\n", k);
    initial += fmt::format("{} s{}(p, tile, shared)", initial.empty() ? " :" : ",", k);
    if (operand.read) {
      loads += fmt::format("    s{}.load({}tile);\n", k, transposed.run.empty() ? "" : "p, ");
      puts += fmt::format("    s{}.put();\n", k);
    }
    if (operand.written) stores += fmt::format("    s{}.store(tile);\n", k);
  }
  line("struct Transposed {");
  out_ += members;
  line(fmt::format(
      "\n  TILE_DEVICE Transposed(const Params& p, const Tile& tile, Shared& shared){} {{}}",
      initial));
  const auto write = [&](const char* signature, const std::string& body) {
    line(fmt::format("  TILE_DEVICE void {} {{", signature));
    out_ += body;
    line("  }");
  };
  write("load(const Params& p, const Tile& tile)", loads);
  write("put() const", puts);
  write("store(const Tile& tile) const", stores);
  line("};");
}

}  // namespace tilejit::render
