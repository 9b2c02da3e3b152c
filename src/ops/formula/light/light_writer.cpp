#include "light/light_writer.hpp"

#include <fmt/format.h>

#include "light/light.hpp"

namespace tilejit::render {

void LightWriter::write_behind_formula() {
  write_vector();
  write_passes();
  write_row_store();
}

void LightWriter::write_sharing() {
  line(fmt::format("enum : int {{ kReductions = {} }};  // passes that reduce", passes_.count));
  line(fmt::format("enum : bool {{ kScans = {} }};", direction_.has_value()));
  if (!direction_) line("enum : bool { kReverse = false };");
  line("enum : int { kFolds = kReductions + kScans };");
  line(fmt::format("enum : int {{ kPasses = kFolds + {} }};", has_outputs(false) ? 1 : 0));
  line(fmt::format("enum : int {{ kChain = {} }};  // elements added up by themselves; 0: all",
                   plan::light_chain(plan_)));
}

void LightWriter::write_passes() {
  std::string members, folds, combinations, ends;
  const auto add = [&](int pass, const std::string& type, const std::string& name) {
    members += fmt::format("  {} {}[1];\n", type, name);
    folds += fmt::format("    if (pass == {}) x.fold(p, row, v, r, {});\n", pass, name);
    combinations +=
        fmt::format("    if (pass == {0}) {1}[0].combine(behind.{1}[0]);\n", pass, name);
  };
  for (int pass = 0; pass < passes_.count; ++pass) {
    const std::string name = fmt::format("pass{}", pass);
    add(pass, fmt::format("Pass{}", pass), name);
    ends += fmt::format("    if (pass == {}) {}[0].finish(p, r);\n", pass, name);
  }
  if (direction_) add(passes_.count, "Scans", "scans");
  line("struct Passes {");
  line(members);
  const char* const element = "const Vector& x, const Params& p, const Row& row, Index v,";
  line(fmt::format("  TILE_DEVICE void fold(int pass, {}\n{:24}const Results (&r)[1]) {{", element,
                   ""));
  line(folds + "  }");
  line("  TILE_DEVICE void combine(int pass, const Passes& behind) {\n" + combinations + "  }");
  line("  TILE_DEVICE void finish(int pass, const Params& p, Results& r) const {\n" + ends + "  }");
  line(fmt::format("  TILE_DEVICE void map({}\n{:23}const Results (&r)[1]) {{", element, ""));
  line(fmt::format("    x.map(p, row, v, r{});\n  }}\n}};\n", direction_ ? ", scans" : ""));
}

}  // namespace tilejit::render
