// docs/atoms.md shows the table. Where it differs, the failure prints what the page should have.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "atoms/facilities.hpp"
#include "atoms/mma_atom.hpp"
#include "support/source_dir.hpp"

namespace tilejit::atoms {
namespace {

std::string header_row(const std::string& first) {
  std::string names = first, rule = "|---|---";
  for (const char* target : kTargets) {
    names += std::string(" | ") + target;
    rule += "|---";
  }
  if (first.find("C, D") != std::string::npos) rule += "|---";
  return names + " |\n" + rule + "|\n";
}

const char* word(Support support) {
  switch (support) {
    case Support::none: return "-";
    case Support::emulated: return "emulated";
    case Support::native: return "yes";
  }
  return "";
}

/// "e4m3 or e5m2" of the types in order of appearance.
std::string joined(const std::vector<DType>& types) {
  std::string text;
  for (const DType type : types) {
    const std::string name(to_string(type));
    if (text.find(name) == std::string::npos) text += (text.empty() ? "" : " or ") + name;
  }
  return text;
}

std::string shape(const MmaAtom& atom) {
  const bool wide = atom.family == MmaFamily::wgmma;
  return std::string(wide ? "wgmma m" : "mma.sync m") + std::to_string(atom.m) + 'n' +
         (wide ? "N" : std::to_string(atom.n)) + 'k' + std::to_string(atom.k);
}

/// Rows that differ in the types of A and B within a kind, or in N, are one.
std::string products() {
  std::map<std::string, std::vector<DType>> operands;
  std::map<std::string, std::string> supports;
  std::vector<std::string> order;
  for (const MmaAtom& atom : mma_atoms()) {
    const std::string kind = is_integer(atom.a)        ? "i8"
                             : size_bytes(atom.a) == 1 ? "f8"
                                                       : std::string(to_string(atom.a));
    const std::string key = shape(atom) + '|' + kind + '|' + std::string(to_string(atom.c));
    std::string cells;
    for (const char* target : kTargets) {
      cells += std::string(" | ") + word(support(atom, parse_target(target)));
    }
    if (supports.emplace(key, cells).second) order.push_back(key);
    EXPECT_EQ(supports.at(key), cells) << to_string(atom) << " differs within its row";
    for (const DType type : {atom.a, atom.b}) operands[key].push_back(type);
  }
  std::string text = header_row("| instruction | A, B | C, D");
  for (const std::string& key : order) {
    text += "| " + key.substr(0, key.find('|')) + " | " + joined(operands.at(key)) + " | " +
            key.substr(key.rfind('|') + 1) + supports.at(key) + " |\n";
  }
  return text;
}

std::string facilities() {
  std::string text = header_row("| tile/ | what");
  for (const Facility& one : kFacilities) {
    text += "| " + std::string(one.header) + " | " + one.what;
    for (const char* target : kTargets) {
      text += has(parse_target(target), one) ? " | yes" : " | -";
    }
    text += " |\n";
  }
  return text;
}

TEST(AtomsPage, ShowsTheTable) {
  std::ifstream file(test::source_dir() / "docs/atoms.md");
  std::ostringstream page;
  page << file.rdbuf();
  for (const std::string& table : {products(), facilities()}) {
    EXPECT_NE(page.str().find(table), std::string::npos) << "docs/atoms.md lacks\n" << table;
  }
}

}  // namespace
}  // namespace tilejit::atoms
