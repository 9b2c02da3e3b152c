#include "tilejit/option_text.hpp"

#include <algorithm>
#include <array>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kKeep = "--keep-";

struct OptionWord {
  std::string_view text;
  void (*set)(Options& options);
};

constexpr OptionWord kOptionWords[] = {
    {"--keep-cubin", [](Options&) {}},
    {"--keep-ptx", [](Options& options) { options.cache_keep.ptx = true; }},
    {"--keep-sass", [](Options& options) { options.cache_keep.sass = true; }},
    {"--keep-source", [](Options& options) { options.cache_keep.source = true; }},
    {"--keep-log", [](Options& options) { options.cache_keep.log = true; }},
    {"--generate-line-info", [](Options& options) { options.line_info = true; }},
    {"--deterministic", [](Options& options) { options.deterministic = true; }},
    {"--effort=full", [](Options& options) { options.compile_effort = CompileEffort::full; }},
    {"--effort=quick", [](Options& options) { options.compile_effort = CompileEffort::quick; }},
    {"--effort=tiered", [](Options& options) { options.compile_effort = CompileEffort::tiered; }},
};

[[noreturn]] void refuse_word(std::string_view word) {
  std::array<std::string_view, std::size(kOptionWords)> known;
  std::ranges::transform(kOptionWords, known.begin(), &OptionWord::text);
  throw Error(ErrorCode::invalid_argument, "there is no option " +
                                               core::shortened(std::string(word)) +
                                               core::did_you_mean(core::nearest_name(word, known)));
}

void set_option(Options& options, std::string_view word) {
  const auto found = std::ranges::find(kOptionWords, word, &OptionWord::text);
  if (found == std::end(kOptionWords)) refuse_word(word);
  if (word.starts_with(kKeep) && !options.cache_folder) {
    throw Error(ErrorCode::invalid_argument,
                std::string(word) + " needs a folder to keep files in; set cache_folder");
  }
  found->set(options);
}

}  // namespace

Options with_option_text(Options options, std::string_view text) {
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    set_option(options, text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return options;
}

}  // namespace tilejit
