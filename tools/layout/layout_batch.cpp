#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include "common/command.hpp"
#include "common/sentence.hpp"
#include "layout/layout_commands.hpp"
#include "layout/layout_operations.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr int kDeepest = 128;                               // levels of JSON
constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // bytes

struct Line {
  std::string text;
  bool too_long = false;
};

// Reads lines. The longest accepted line bounds the memory.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path)
      : path_(path),
        file_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail();
  }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader() {
    if (file_ != STDIN_FILENO) ::close(file_);
  }

  std::optional<Line> next() {
    Line line;
    bool any = false;
    while (begin_ < end_ || fill()) {
      any = true;
      const char* const first = block_ + begin_;
      const char* const last = std::find(first, static_cast<const char*>(block_ + end_), '\n');
      append(line, {first, last});
      begin_ = static_cast<std::size_t>(last - block_);
      if (begin_ == end_) continue;
      ++begin_;
      return line;
    }
    return any ? std::optional(std::move(line)) : std::nullopt;
  }

 private:
  static void append(Line& line, std::string_view part) {
    line.too_long = line.too_long || line.text.size() + part.size() > kLongestLine;
    if (!line.too_long) line.text += part;
  }

  // Prints the answers so far before it waits for more input.
  bool fill() {
    std::fflush(stdout);
    ssize_t count = 0;
    do {
      count = ::read(file_, block_, sizeof block_);
    } while (count < 0 && errno == EINTR);
    if (count < 0) fail();
    begin_ = 0;
    end_ = static_cast<std::size_t>(count);
    return count > 0;
  }

  [[noreturn]] void fail() const {
    throw UsageError(fmt::format("{} could not be read: {}", path_.string(), std::strerror(errno)));
  }

  std::filesystem::path path_;
  int file_;
  std::size_t begin_ = 0, end_ = 0;
  char block_[1 << 16];
};

// Deeper values would exhaust the stack when they are printed.
bool check_depth(int depth, Json::parse_event_t, Json&) {
  if (depth > kDeepest) throw UsageError(fmt::format("the line nests deeper than {}", kDeepest));
  return true;
}

Json parse_line(const Line& line) {
  if (line.too_long) throw UsageError("the line is longer than 1 MiB");
  try {
    Json request = Json::parse(line.text, check_depth);
    if (request.is_object()) return request;
  } catch (const Json::parse_error& error) {
    throw UsageError(fmt::format("the line is not JSON at byte {}", error.byte));
  } catch (const Json::out_of_range&) {
    throw UsageError("the line has a number beyond what a double holds");
  }
  throw UsageError("the line is not a JSON object; it takes {\"op\": ..., \"in\": {...}}");
}

// The operation's name. Files of several functions have it in `fn`.
std::string operation_name(const Json& request) {
  const Json& in = request["in"];
  const Json& name = in.contains("fn") ? in["fn"] : request["op"];
  if (!name.is_string()) throw UsageError("\"op\" takes a string");
  return name.get<std::string>();
}

// CuTe's test vectors use separate names if a function takes other arguments.
void rename_vectors(std::string& name, Json& in) {
  if (name == "idx2crd_stride") name = "idx2crd";
  if (name != "composition_tiler") return;
  name = "composition";
  if (in.contains("tiler")) in["b"] = std::move(in["tiler"]);
  in.erase("tiler");
}

void check_members(const Operation& operation, const Json& in) {
  for (const auto& [name, value] : in.items()) {
    const bool known = std::ranges::count(operation.parameters, name, &Parameter::name) > 0;
    if (known || name == "fn" || value.is_null()) continue;
    std::vector<std::string_view> names;
    for (const Parameter& parameter : operation.parameters) names.push_back(parameter.name);
    throw UsageError(fmt::format("{} has no argument '{}', it takes {}", operation.name,
                                 name.substr(0, 64), fmt::join(names, ", ")));
  }
}

// null is the tiler `_`. For other kinds it stands for an optional argument that is left out.
Argument read_argument(const Operation& operation, const Parameter& parameter, const Json& in) {
  const auto value = in.find(std::string(parameter.name));
  const bool absent = value == in.end() ||
                      (value->is_null() && parameter.optional && parameter.kind != Kind::tiler);
  if (absent && parameter.optional) return {};
  if (absent) {
    throw UsageError(fmt::format("{} needs the argument '{}': {}", operation.name, parameter.name,
                                 kind_text(parameter.kind)));
  }
  try {
    return read_json(parameter.kind, *value);
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", parameter.name, sentence(error)));
  }
}

OrderedJson answer(Json request) {
  if (!request.contains("op") || !request.contains("in") || !request["in"].is_object()) {
    throw UsageError("the line takes \"op\", a string, and \"in\", an object of arguments");
  }
  Json& in = request["in"];
  std::string name = operation_name(request);
  rename_vectors(name, in);
  const Operation& operation = find_operation(name);
  check_members(operation, in);
  Arguments arguments;
  for (const Parameter& parameter : operation.parameters) {
    arguments.push_back(read_argument(operation, parameter, in));
  }
  return operation.answer(arguments).json;
}

// {"out": ...}, or {"line": N, "error": ...}. The request's id comes first if there is one.
OrderedJson answer_line(const Line& line, std::int64_t number, bool& failed) {
  OrderedJson result = OrderedJson::object();
  std::string message;
  try {
    Json request = parse_line(line);
    if (request.contains("id")) result["id"] = request["id"];
    result["out"] = answer(std::move(request));
    return result;
  } catch (const Error& error) {
    message = sentence(error);
  } catch (const std::exception& error) {
    message = error.what();
  }
  failed = true;
  result["line"] = number;
  result["error"] = message;
  return result;
}

void print(const OrderedJson& json) {
  const std::string text = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw Failure("could not write to standard output");
  }
}

}  // namespace

void answer_batch(const std::filesystem::path& path) {
  LineReader reader(path);
  std::int64_t number = 0, errors = 0;
  while (const std::optional<Line> line = reader.next()) {
    ++number;
    if (!line->too_long && line->text.find_first_not_of(" \t\r") == std::string::npos) continue;
    bool failed = false;
    print(answer_line(*line, number, failed));
    if (failed) ++errors;
  }
  if (errors > 0) throw Failure(fmt::format("{} of {} lines have no answer", errors, number));
}

}  // namespace tilejit::cli
