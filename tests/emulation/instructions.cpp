#include "emulation/instructions.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "support/source_dir.hpp"

namespace tilejit::test {
namespace {

/// An asm statement: its template, and the expressions of its operands.
struct Statement {
  std::string text;
  std::vector<std::string> operands;
  std::size_t end = 0;  ///< behind the closing parenthesis
};

/// Reads a statement whose opening parenthesis has been read.
class StatementReader {
 public:
  StatementReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  Statement read() {
    Statement statement;
    while (peek() == '"') statement.text += string();
    int section = 0;  // outputs, inputs, clobbers
    while (peek() != ')') {
      if (text_[at_] == ':') {
        ++section;
        ++at_;
      } else if (text_[at_] == ',') {
        ++at_;
      } else {
        (void)string();
        if (section < 3 && peek() == '(') statement.operands.push_back(parenthesized());
      }
    }
    statement.end = at_ + 1;
    return statement;
  }

 private:
  char peek() {
    while (std::isspace(static_cast<unsigned char>(text_.at(at_))) != 0) ++at_;
    return text_[at_];
  }
  /// A string literal, without its escapes of line ends.
  std::string string() {
    std::string value;
    for (++at_; text_.at(at_) != '"'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
        value += ' ';
      } else {
        value += text_[at_];
      }
    }
    ++at_;
    return value;
  }
  std::string parenthesized() {
    const std::size_t first = ++at_;
    for (int depth = 1; depth != 0; ++at_) {
      if (text_.at(at_) == '(') ++depth;
      if (text_[at_] == ')') --depth;
    }
    return std::string(text_.substr(first, at_ - 1 - first));
  }

  std::string_view text_;
  std::size_t at_;
};

/// What an instruction takes elements of registers or of memory for.
std::string element_of(const std::string& type) {
  if (type == "bf16") return "emulation::Bf16";
  if (type == "f16") return "emulation::F16";
  if (type == "tf32") return "emulation::Tf32";
  if (type == "f64") return "double";
  return type == "s8" ? "signed char" : "unsigned char";
}

/// The struct that the end of `before` stands in, of those that atoms::emit writes.
std::string struct_of(const std::string& before) {
  static const std::regex kName(R"(struct (\w+) \{\s+static constexpr int kM)");
  std::string name;
  for (auto i = std::sregex_iterator(before.begin(), before.end(), kName);
       i != std::sregex_iterator(); ++i) {
    name = (*i)[1];
  }
  return name;
}

/// A product of tensor cores, whose wrapper has the operands d, a, b and c.
std::optional<std::string> product(const Statement& statement, const std::string& before) {
  static const std::regex kMma(
      R"re(mma\.sync\.aligned\.m\d+n\d+k\d+\.row\.col\.\w+\.(\w+)\.(\w+)\..*)re");
  static const std::regex kWgmma(
      R"re(.*wgmma\.mma_async\.sync\.aligned\.m\d+n\d+k\d+\.\w+\.(\w+)\.(\w+) (.*), p(, 1, 1)?(, [01])?(, [01])?; \})re");
  std::smatch found;
  if (std::regex_match(statement.text, found, kMma)) {
    return "emulation::multiply<" + struct_of(before) + ", " + element_of(found[1]) + ", " +
           element_of(found[2]) + ">(d, a, b, c)";
  }
  if (!std::regex_match(statement.text, found, kWgmma)) return std::nullopt;
  const auto major = [](const std::string& transposed) {
    return std::string("emulation::Major::") + (transposed == ", 1" ? "mn" : "k");
  };
  // A in registers has no major.
  const bool two = found[6].matched;
  const std::string call = "emulation::multiply_async<" + struct_of(before) + ", " +
                           element_of(found[1]) + ", " + element_of(found[2]) + ", " +
                           major(two ? found[5] : std::string()) + ", " +
                           major(found[two ? 6 : 5]) + ">(d, ";
  if (statement.operands.back() != "int(adds)") return call + "a, b, kClear)";
  return "for (int j = 0; j < kSteps; ++j) " + call + "a[j], b[j], j == 0 && !adds)";
}

/// "ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" as "emulation::ptx::ld_shared_v4_b32(a, b, c, d, e)"
std::string call_of(const Statement& statement) {
  static const std::regex kName(R"([\w.:]+)"), kOperand(R"(%%?\w+|-?\w+)");
  std::smatch name;
  if (!std::regex_search(statement.text, name, kName)) return "(void)0";
  std::string call = "emulation::ptx::" + std::regex_replace(name.str(), std::regex("[.:]+"), "_");
  const std::string rest = name.suffix();
  char separator = '(';
  for (auto i = std::sregex_iterator(rest.begin(), rest.end(), kOperand);
       i != std::sregex_iterator(); ++i) {
    const std::string operand = i->str();
    call += std::exchange(separator, ',');
    if (operand.starts_with("%%")) {
      call += "emulation::ptx::" + operand.substr(2) + "()";
    } else if (operand.starts_with('%')) {
      call += statement.operands.at(std::stoul(operand.substr(1)));
    } else {
      call += operand;
    }
  }
  return call + ')';
}

std::string without_instructions(const std::string& text) {
  static const std::regex kAsm(R"(\basm( volatile)?\()");
  std::string out;
  std::size_t done = 0;
  for (auto i = std::sregex_iterator(text.begin(), text.end(), kAsm); i != std::sregex_iterator();
       ++i) {
    const auto first = static_cast<std::size_t>(i->position());
    if (first < done) continue;
    const Statement statement =
        StatementReader(text, first + static_cast<std::size_t>(i->length())).read();
    out += text.substr(done, first - done);
    out += product(statement, out).value_or(call_of(statement));
    done = statement.end;
  }
  return out + text.substr(done);
}

/// Declarations of shared memory as references; of names outside functions, as macros.
std::string with_shared_memory(const std::string& text) {
  static const std::regex kDeclaration(
      R"(\n( *)(extern )?(?:alignas\(\d+\) |__align__\(\d+\) )?__shared__ (?:__align__\(\d+\) )?)"
      R"(([^;\n]*?) (\w+)((?:\[[^\]]*\])*);)");
  std::string out, macros;
  std::size_t done = 0;
  int number = 0;
  for (auto i = std::sregex_iterator(text.begin(), text.end(), kDeclaration);
       i != std::sregex_iterator(); ++i) {
    const std::smatch& found = *i;
    const std::string name = found[4], type = name + "_type";
    const bool is_dynamic = found[2].matched;
    const std::string memory =
        is_dynamic ? "emulation::block_memory()"
                   : "emulation::declared<" + type + ", " + std::to_string(number++) + ">()";
    out += text.substr(done, static_cast<std::size_t>(found.position()) - done) + '\n';
    if (!is_dynamic) out += "typedef " + found[3].str() + ' ' + type + found[5].str() + ";\n";
    if (found[1].length() == 0) {
      out += "#undef " + name + "\n#define " + name + ' ' + memory;
      macros += "\n#undef " + name;
    } else {
      out += (is_dynamic ? "unsigned char* const " : type + "& ") + name + " = " + memory + ';';
    }
    done = static_cast<std::size_t>(found.position() + found.length());
  }
  return out + text.substr(done) + macros + '\n';
}

}  // namespace

std::string text_for_cpu(operation::Source source) {
  for (auto& [name, text] : source.headers) {
    std::ifstream own(source_dir() / "tests/emulation" / name);
    if (own) text.assign(std::istreambuf_iterator<char>(own), {});
  }
  return with_shared_memory(without_instructions(flatten(source)));
}

}  // namespace tilejit::test
