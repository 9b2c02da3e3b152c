#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compile/nvrtc.hpp"
#include "tilejit/error.hpp"

namespace tilejit::compile {

// Messages between a process and its workers (docs/compiling.md, "Messages"). A message is a frame:
// "TJWK", the length of the body, the body, whose first byte is its kind. Numbers are
// little-endian; a text is its length in 4 bytes followed by its bytes.

/// Raised whenever a message changes.
inline constexpr std::uint32_t kProtocol = 1;
inline constexpr std::size_t kFrameHeader = 8;
/// Largest body, in bytes. The largest cubins have some MB.
inline constexpr std::size_t kMaxBody = 64u << 20;

/// The first message of the process.
struct Hello {
  std::uint32_t protocol = kProtocol;
  std::string version = {};  ///< of this library
  CompilerId compiler = {};  ///< the one that the worker must load
  bool operator==(const Hello&) const = default;
};

/// The worker's answer after it has loaded the compiler.
struct Welcome {
  std::uint32_t protocol = kProtocol;
  std::string version = {};           ///< of the worker
  std::string build = {};             ///< of the compiler it has loaded
  std::string compiler_version = {};  ///< "13.0"
  std::string refusal = {};           ///< why the worker cannot work; empty: it can
  bool operator==(const Welcome&) const = default;
};

/// One kernel to be compiled.
struct Order {
  std::uint64_t id = 0;
  Request request = {};
  bool operator==(const Order&) const = default;
};

/// What a compile threw: the parts of an Error.
struct Refusal {
  ErrorCode code = ErrorCode::compile_failed;
  std::string what = {}, where = {}, log = {};
  bool operator==(const Refusal&) const = default;
};

/// The answer to the Order with that id.
struct Reply {
  std::uint64_t id = 0;
  std::optional<Refusal> refusal = {};  ///< if empty, `compiled` is the result
  Compiled compiled = {};
  bool operator==(const Reply&) const = default;
};

[[nodiscard]] std::string encode(const Hello& message);
[[nodiscard]] std::string encode(const Welcome& message);
[[nodiscard]] std::string encode(const Order& message);
[[nodiscard]] std::string encode(const Reply& message);

/// Nothing if the body is no such message. Safe for any bytes.
[[nodiscard]] std::optional<Hello> decode_hello(std::string_view body);
[[nodiscard]] std::optional<Welcome> decode_welcome(std::string_view body);
[[nodiscard]] std::optional<Order> decode_order(std::string_view body);
[[nodiscard]] std::optional<Reply> decode_reply(std::string_view body);

/// The 8 bytes before a body of `body_bytes` bytes.
[[nodiscard]] std::string frame_header(std::size_t body_bytes);
/// The size of the body that follows; nothing if `header` is not a frame's header.
[[nodiscard]] std::optional<std::size_t> body_bytes(std::string_view header) noexcept;

/// The parts of an Error, and the Error made of them.
[[nodiscard]] Refusal to_refusal(const Error& error);
[[nodiscard]] Error to_error(const Refusal& refusal);

}  // namespace tilejit::compile
