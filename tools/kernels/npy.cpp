#include "kernels/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/command.hpp"

namespace tilejit::cli {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr std::size_t kAlignment = 64;  // of the data in files that we write, as in NumPy's

// Parses the header, a Python dict literal with three keys. Anything else is refused.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    int descr = 0, order = 0, shape = 0;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && descr++ == 0) {
        header.descr = string();
      } else if (key == "fortran_order" && order++ == 0) {
        header.fortran_order = boolean();
      } else if (key == "shape" && shape++ == 0) {
        header.shape = tuple();
      } else {
        fail("has a header with the unexpected or repeated key '" + key.substr(0, 40) + "'");
      }
      if (!accept(',') && peek() != '}') fail("has a header in which a ',' or '}' is missing");
    }
    skip();
    if (at_ != text_.size() || descr + order + shape != 3) {
      fail("has a header that is not {'descr': ..., 'fortran_order': ..., 'shape': ...}");
    }
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{} {}; write it with numpy.save", name_, what));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("has a header in which a '{}' is missing", c));
  }
  std::string string() {
    const char quote = peek();
    if (quote == '[') fail("holds records with named fields, which are not supported");
    if (quote != '\'' && quote != '"') fail("has a header in which a string is missing");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("has a header with an unterminated string");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("has a header in which fortran_order is neither True nor False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      skip();
      std::int64_t value = 0;
      const char* end = text_.data() + text_.size();
      const auto [next, error] = std::from_chars(text_.data() + at_, end, value);
      if (error != std::errc() || value < 0) fail("has a shape that is not a tuple of extents");
      at_ = static_cast<std::size_t>(next - text_.data());
      values.push_back(value);
      // NumPy writes (3,) for one axis; (3) would be a number.
      if (!accept(',') && (peek() != ')' || values.size() == 1)) fail("has a malformed shape");
    }
    return values;
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
};

// Bytes of one element of "<f2", "|V1", ...: the number after the kind, or 0 if there is no number.
std::size_t element_bytes(std::string_view descr) noexcept {
  std::size_t bytes = 0;
  const std::size_t digits = descr.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 0;
  std::from_chars(descr.data() + digits, descr.data() + descr.size(), bytes);
  return bytes;
}

std::size_t width_of(std::string_view descr) noexcept {
  if (descr == "bfloat16") return 2;
  if (descr == "float8_e4m3fn" || descr == "float8_e5m2") return 1;
  return element_bytes(descr);
}

struct Preamble {
  std::size_t header_at = 0, header_bytes = 0;
};

Preamble parse_preamble(std::string_view bytes, std::string_view name) {
  if (bytes.size() < 10 || !bytes.starts_with(kMagic)) {
    throw UsageError(fmt::format("{} is not a NumPy file; write it with numpy.save", name));
  }
  const auto at = [&](std::size_t i) -> std::size_t {
    return static_cast<unsigned char>(bytes[i]);
  };
  const std::size_t major = at(6), minor = at(7);
  if (major < 1 || major > 3 || minor != 0) {
    throw UsageError(fmt::format("{} has version {}.{} of NumPy's format; 1.0 to 3.0 are known",
                                 name, major, minor));
  }
  Preamble preamble{.header_at = major == 1 ? 10u : 12u, .header_bytes = at(8) + (at(9) << 8u)};
  if (major > 1 && bytes.size() >= 12) {
    preamble.header_bytes += (at(10) << 16u) + (at(11) << 24u);
  }
  if (preamble.header_at + preamble.header_bytes > bytes.size()) {
    throw UsageError(fmt::format("{} is truncated: it ends inside its header", name));
  }
  return preamble;
}

// The number of data bytes that the header promises; std::nullopt if it exceeds 63 bits.
std::optional<std::size_t> promised_bytes(const NpyHeader& header) {
  auto bytes = static_cast<std::int64_t>(width_of(header.descr));
  if (std::ranges::count(header.shape, 0) > 0) return 0;
  for (const std::int64_t extent : header.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return static_cast<std::size_t>(bytes);
}

void check_descr(const NpyHeader& header, std::string_view name) {
  if (header.descr.starts_with('>')) {
    throw UsageError(
        fmt::format("{} holds big-endian elements '{}'; convert them first: "
                    "a.astype(a.dtype.newbyteorder('<'))",
                    name, header.descr));
  }
  if (header.descr.find('O') != std::string::npos || width_of(header.descr) == 0) {
    throw UsageError(fmt::format("{} holds elements '{}', which are not numbers of a known width",
                                 name, header.descr.substr(0, 40)));
  }
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace

NpyArray parse_npy(std::string bytes, std::string_view name) {
  const Preamble preamble = parse_preamble(bytes, name);
  const std::string_view text(bytes.data() + preamble.header_at, preamble.header_bytes);
  NpyArray array{.header = HeaderParser(text, name).parse(), .data = {}};
  check_descr(array.header, name);
  const std::size_t data_at = preamble.header_at + preamble.header_bytes;
  const std::optional<std::size_t> promised = promised_bytes(array.header);
  if (!promised || *promised != bytes.size() - data_at) {
    throw UsageError(fmt::format("{} holds {} bytes of data, but '{}' of shape {} is {}", name,
                                 bytes.size() - data_at, array.header.descr,
                                 shape_text(array.header.shape),
                                 promised ? std::to_string(*promised) : "more than any file"));
  }
  array.data = std::move(bytes.erase(0, data_at));
  return array;
}

std::string format_npy(const NpyHeader& header, std::string_view data) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", header.descr,
                  header.fortran_order ? "True" : "False", shape_text(header.shape));
  // The preamble of 10 bytes, the text and its newline end at a multiple of the alignment. A layout
  // has at most 64 leaves, so no shape makes the text exceed the 65535 bytes of version 1.0.
  text.append((kAlignment - (10 + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string file(kMagic);
  file +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8u)};
  return file.append(text).append(data);
}

}  // namespace tilejit::cli
