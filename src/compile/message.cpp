#include "compile/message.hpp"

#include <bit>
#include <limits>

namespace tilejit::compile {
namespace {

constexpr std::string_view kMagic = "TJWK";

enum class MessageKind : std::uint8_t { hello = 1, welcome = 2, order = 3, reply = 4 };

class Writer {
 public:
  explicit Writer(MessageKind kind) { number(static_cast<std::uint8_t>(kind)); }

  template <class T>
  Writer& number(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      bytes_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
    return *this;
  }
  Writer& text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads a message. After something is missing, everything later is empty, and the message is not
/// whole.
class Reader {
 public:
  Reader(std::string_view bytes, MessageKind kind) : rest_(bytes) {
    whole_ = number<std::uint8_t>() == static_cast<std::uint8_t>(kind) && whole_;
  }

  template <class T>
  T number() {
    const std::string_view bytes = take(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return static_cast<T>(value);
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }
  bool flag() {
    const auto value = number<std::uint8_t>();
    whole_ = whole_ && value <= 1;
    return value == 1;
  }
  /// The number of items that follow, each of at least 4 bytes.
  std::size_t count() {
    const auto items = number<std::uint32_t>();
    whole_ = whole_ && items <= rest_.size() / 4;
    return whole_ ? items : 0;
  }
  template <class Message>
  std::optional<Message> end(Message message) const {
    if (!whole_ || !rest_.empty()) return std::nullopt;
    return message;
  }
  void reject() noexcept { whole_ = false; }

 private:
  std::string_view take(std::size_t bytes) {
    whole_ = whole_ && bytes <= rest_.size();
    if (!whole_) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
  bool whole_ = true;
};

/// The error codes that a worker may report for a kernel.
constexpr ErrorCode kCodes[] = {ErrorCode::compile_failed, ErrorCode::unsupported,
                                ErrorCode::no_compiler};

}  // namespace

std::string encode(const Hello& message) {
  return Writer(MessageKind::hello)
      .number(message.protocol)
      .text(message.version)
      .text(message.compiler.path.string())
      .text(message.compiler.build)
      .take();
}

std::optional<Hello> decode_hello(std::string_view body) {
  Reader reader(body, MessageKind::hello);
  Hello message;
  message.protocol = reader.number<std::uint32_t>();
  message.version = reader.text();
  message.compiler.path = reader.text();
  message.compiler.build = reader.text();
  return reader.end(std::move(message));
}

std::string encode(const Welcome& message) {
  return Writer(MessageKind::welcome)
      .number(message.protocol)
      .text(message.version)
      .text(message.build)
      .text(message.compiler_version)
      .text(message.refusal)
      .take();
}

std::optional<Welcome> decode_welcome(std::string_view body) {
  Reader reader(body, MessageKind::welcome);
  Welcome message;
  message.protocol = reader.number<std::uint32_t>();
  message.version = reader.text();
  message.build = reader.text();
  message.compiler_version = reader.text();
  message.refusal = reader.text();
  return reader.end(std::move(message));
}

std::string encode(const Order& message) {
  const Request& request = message.request;
  Writer writer(MessageKind::order);
  writer.number(message.id).text(request.source.name).text(request.source.text);
  writer.number(static_cast<std::uint32_t>(request.source.headers.size()));
  for (const auto& [name, text] : request.source.headers) writer.text(name).text(text);
  writer.text(request.target);
  writer.number(static_cast<std::uint32_t>(request.options.size()));
  for (const std::string& option : request.options) writer.text(option);
  return writer.number(static_cast<std::uint8_t>(request.want_ptx)).take();
}

std::optional<Order> decode_order(std::string_view body) {
  Reader reader(body, MessageKind::order);
  Order message;
  Request& request = message.request;
  message.id = reader.number<std::uint64_t>();
  request.source.name = reader.text();
  request.source.text = reader.text();
  for (std::size_t left = reader.count(); left > 0; --left) {
    std::string name = reader.text();
    request.source.headers.emplace_back(std::move(name), reader.text());
  }
  request.target = reader.text();
  for (std::size_t left = reader.count(); left > 0; --left) {
    request.options.push_back(reader.text());
  }
  request.want_ptx = reader.flag();
  return reader.end(std::move(message));
}

std::string encode(const Reply& message) {
  Writer writer(MessageKind::reply);
  writer.number(message.id).number(static_cast<std::uint8_t>(message.refusal.has_value()));
  if (message.refusal) {
    const Refusal& refusal = *message.refusal;
    writer.text(to_string(refusal.code)).text(refusal.what).text(refusal.where).text(refusal.log);
    return writer.take();
  }
  const Compiled& compiled = message.compiled;
  return writer.text(compiled.cubin)
      .text(compiled.ptx)
      .text(compiled.log)
      .text(compiled.compiler_version)
      .number(std::bit_cast<std::uint64_t>(compiled.milliseconds))
      .take();
}

std::optional<Reply> decode_reply(std::string_view body) {
  Reader reader(body, MessageKind::reply);
  Reply message;
  message.id = reader.number<std::uint64_t>();
  if (reader.flag()) {
    Refusal& refusal = message.refusal.emplace();
    const std::string name = reader.text();
    bool known = false;
    for (const ErrorCode code : kCodes) {
      if (name != to_string(code)) continue;
      refusal.code = code;
      known = true;
    }
    if (!known) reader.reject();
    refusal.what = reader.text();
    refusal.where = reader.text();
    refusal.log = reader.text();
    return reader.end(std::move(message));
  }
  Compiled& compiled = message.compiled;
  compiled.cubin = reader.text();
  compiled.ptx = reader.text();
  compiled.log = reader.text();
  compiled.compiler_version = reader.text();
  compiled.milliseconds = std::bit_cast<double>(reader.number<std::uint64_t>());
  const bool timed =
      compiled.milliseconds >= 0 && compiled.milliseconds <= std::numeric_limits<double>::max();
  if (!timed || !compiled.cubin.starts_with("\x7f"
                                            "ELF"))
    reader.reject();
  return reader.end(std::move(message));
}

std::string frame_header(std::size_t body_bytes) {
  std::string header(kMagic);
  for (int shift = 0; shift < 32; shift += 8) header += static_cast<char>(body_bytes >> shift);
  return header;
}

std::optional<std::size_t> body_bytes(std::string_view header) noexcept {
  if (header.size() != kFrameHeader || !header.starts_with(kMagic)) return std::nullopt;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    bytes |= std::size_t{static_cast<unsigned char>(header[kMagic.size() + i])} << (8 * i);
  }
  if (bytes == 0 || bytes > kMaxBody) return std::nullopt;
  return bytes;
}

Refusal to_refusal(const Error& error) {
  std::string what = error.what();
  // The constructor of Error appends it again.
  const std::string place = error.where().empty() ? "" : " (" + error.where() + ")";
  if (what.ends_with(place)) what.resize(what.size() - place.size());
  return {
      .code = error.code(), .what = std::move(what), .where = error.where(), .log = error.log()};
}

Error to_error(const Refusal& refusal) {
  return {refusal.code, refusal.what, refusal.where, refusal.log};
}

}  // namespace tilejit::compile
