#include <utility>

#include "core/text.hpp"
#include "layout/reader.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

constexpr int kMaxNesting = 64;
constexpr int kMaxModes = 64;

bool opens(char c) {
  return c == '(' || c == '<';
}
bool closes(char c) {
  return c == ')' || c == '>';
}

/// Reads the text form of a tiler. Texts with a ':' of their own are left to parse_layout.
class TilerReader {
 public:
  explicit TilerReader(std::string_view text) : text_(text) {}

  Tiler read() {
    Tiler tiler = read_tiler(0);
    if (peek() != '\0') fail("the end");
    return tiler;
  }

 private:
  char peek() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t')) ++pos_;
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++pos_;
    return true;
  }

  /// The text up to the ',' or bracket that ends this tiler, and whether it has a ':' of its own.
  std::pair<std::string_view, bool> extent() const {
    bool colon = false;
    std::size_t end = pos_;
    for (int depth = 0; end < text_.size(); ++end) {
      const char c = text_[end];
      if (depth == 0 && (c == ',' || closes(c))) break;
      depth += opens(c) ? 1 : closes(c) ? -1 : 0;
      colon = colon || (depth == 0 && c == ':');
    }
    return {text_.substr(pos_, end - pos_), colon};
  }

  Tiler read_tiler(int nesting) {
    const char first = peek();
    const auto [own, colon] = extent();
    if (!colon && opens(first)) return read_tuple(nesting);
    if (modes_++ == kMaxModes) fail("at most 64 modes");
    if (!colon && accept('_')) return Underscore{};
    if (own.empty()) fail("an integer, '_', a layout or '<'");
    pos_ += own.size();
    if (colon) return parse_layout(own);
    const Dim extent = parse_dim(own);
    if (extent.is_known()) return extent.value();
    throw Error(ErrorCode::invalid_layout, "'" + core::shortened(std::string(own)) +
                                               "' is not a known integer; give a number");
  }

  Tiler read_tuple(int nesting) {
    if (nesting == kMaxNesting) fail("at most 64 levels of nesting");
    const char close = text_[pos_++] == '(' ? ')' : '>';
    std::vector<Tiler> modes;
    do {
      modes.push_back(read_tiler(nesting + 1));
    } while (accept(','));
    if (!accept(close)) fail(std::string("',' or '") + close + "'");
    return modes;
  }

  [[noreturn]] void fail(const std::string& what) { layout::fail_at(text_, pos_, what); }

  std::string_view text_;
  std::size_t pos_ = 0;
  int modes_ = 0;
};

}  // namespace

Tiler::Tiler(std::vector<Tiler> modes) : is_(Is::tuple), modes_(std::move(modes)) {
  if (!this->modes()->empty()) return;
  throw Error(ErrorCode::invalid_layout, "a tuple of tilers has at least one mode, found none");
}

Tiler::Tiler(std::string_view text) : Tiler(parse_tiler(text)) {}

std::string to_string(const Tiler& tiler) {
  if (tiler.is_underscore()) return "_";
  if (const Layout* layout = tiler.layout()) return to_string(*layout);
  if (const std::int64_t* n = tiler.extent()) return std::to_string(*n);
  std::string text = "<";
  for (const Tiler& mode : *tiler.modes()) {
    if (text.size() > 1) text += ',';
    text += to_string(mode);
  }
  return text + '>';
}

Tiler parse_tiler(std::string_view text) {
  return TilerReader(text).read();
}

}  // namespace tilejit
