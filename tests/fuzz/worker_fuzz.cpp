// Messages of worker processes: no bytes crash a reader, understood messages are written back
// unchanged, and any stream ends.
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compile/channel.hpp"
#include "compile/message.hpp"

namespace {

using namespace tilejit::compile;

void require(bool fact) {
  if (!fact) std::abort();
}

template <class Message>
void require_round_trip(const std::optional<Message>& message, std::string_view body) {
  if (message) require(encode(*message) == body);
}

void decode_all(std::string_view body) {
  require_round_trip(decode_hello(body), body);
  require_round_trip(decode_welcome(body), body);
  require_round_trip(decode_order(body), body);
  require_round_trip(decode_reply(body), body);
}

/// As a worker, or an impostor, might write it.
void receive_all(std::string_view bytes) {
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  Channel channel{UniqueFd(ends[0])};
  {
    const UniqueFd other(ends[1]);
    const std::string_view some = bytes.substr(0, 4096);  // less than the socket holds
    require(::send(other.get(), some.data(), some.size(), MSG_NOSIGNAL) >= 0);
  }
  std::string body;
  while (channel.receive(body) == Channel::Status::done) decode_all(body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  decode_all(bytes);
  if (const auto length = body_bytes(bytes.substr(0, kFrameHeader))) {
    require(frame_header(*length) == bytes.substr(0, kFrameHeader));
  }
  receive_all(bytes);
  receive_all(frame_header(bytes.size()) + std::string(bytes));
  return 0;
}
