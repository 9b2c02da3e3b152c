// Programs that are wrong, and what is said about them: tests/data/program/wrong.txt.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/source_dir.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {
namespace {

struct Wrong {
  std::string name;
  std::string text;  ///< as in the file; a first line "+NAME" stands for the preamble NAME
  std::string want;
};

struct WrongFile {
  std::string head;  ///< what stands before the first program: comments and preambles
  std::map<std::string, std::string> preambles;
  std::vector<Wrong> programs;
};

std::filesystem::path data_file() {
  return test::source_dir() / "tests/data/program/wrong.txt";
}

/// "=== NAME", the text, "---", the message. "=== preamble NAME" has no message.
WrongFile read_file() {
  WrongFile file;
  std::ifstream stream(data_file());
  std::string line;
  std::string* part = &file.head;
  bool in_head = true;
  while (std::getline(stream, line)) {
    if (line.starts_with("=== preamble ")) {
      part = &file.preambles[line.substr(13)];
    } else if (line.starts_with("=== ")) {
      in_head = false;
      file.programs.push_back({.name = line.substr(4), .text = {}, .want = {}});
      part = &file.programs.back().text;
      continue;
    } else if (line == "---" && !in_head) {
      part = &file.programs.back().want;
      continue;
    } else {
      *part += line + '\n';
    }
    if (in_head && part != &file.head) file.head += line + '\n';
  }
  return file;
}

std::string text_of(const WrongFile& file, const Wrong& wrong) {
  if (!wrong.text.starts_with('+')) return wrong.text;
  const std::size_t end = wrong.text.find('\n');
  return file.preambles.at(wrong.text.substr(1, end - 1)) + wrong.text.substr(end + 1);
}

std::string message_of(const std::string& text) {
  try {
    (void)parse_specs(text);
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what() + '\n';
  }
  return "accepted\n";
}

TEST(Wrong, ProgramsAreRefusedWithAdvice) {
  const WrongFile file = read_file();
  ASSERT_GE(file.programs.size(), 200u);
  std::set<std::string> names;
  // As with golden sources: writes what is said now, for the diff to be read.
  const bool update = std::getenv("TILEJIT_UPDATE_GOLDEN") != nullptr;
  std::string updated = file.head;
  for (const Wrong& wrong : file.programs) {
    SCOPED_TRACE(wrong.name);
    EXPECT_TRUE(names.insert(wrong.name).second) << "two programs have this name";
    const std::string message = message_of(text_of(file, wrong));
    EXPECT_NE(message, "accepted\n");
    if (!update) {
      EXPECT_EQ(message, wrong.want);
    }
    updated += "=== " + wrong.name + '\n' + wrong.text + "---\n" + message;
  }
  if (update) std::ofstream(data_file()) << updated;
}

}  // namespace
}  // namespace tilejit::program
