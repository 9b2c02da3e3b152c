#include "compile/worker_loop.hpp"

#include <poll.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <optional>
#include <thread>

#include "compile/channel.hpp"
#include "tilejit/version.hpp"

namespace tilejit::compile {
namespace {

using Status = Channel::Status;

constexpr int kGood = 0;
constexpr int kBad = 1;

/// Ends the process, since a compile cannot be interrupted and nobody wants its result any more.
void exit_when_closed(int socket) {
  std::thread([socket] {
    pollfd other_end{.fd = socket, .events = POLLRDHUP, .revents = 0};
    while (::poll(&other_end, 1, -1) < 1) {
    }
    // Invalid: this process has closed it, and is about to end by itself.
    if ((other_end.revents & POLLNVAL) == 0) ::_exit(kGood);
  }).detach();
}

Welcome welcome(const Hello& hello, const std::function<Engine(const Hello&)>& open,
                std::optional<Engine>& engine) {
  Welcome welcome{.version = std::string(version())};
  if (hello.protocol != kProtocol) {
    welcome.refusal = "the worker speaks protocol " + std::to_string(kProtocol) + ", not " +
                      std::to_string(hello.protocol);
    return welcome;
  }
  try {
    engine = open(hello);
    welcome.build = engine->build;
    welcome.compiler_version = engine->version;
  } catch (const std::exception& error) {
    welcome.refusal = error.what();
  }
  return welcome;
}

Reply answer(const Order& order, const Engine& engine) {
  Reply reply{.id = order.id};
  try {
    reply.compiled = engine.compile(order.request);
  } catch (const Error& error) {
    reply.refusal = to_refusal(error);
  } catch (const std::exception& error) {
    reply.refusal = Refusal{.what = error.what()};
  }
  return reply;
}

}  // namespace

int serve(int socket, const std::function<Engine(const Hello&)>& open) {
  Channel channel{UniqueFd(socket)};
  std::string body;
  if (channel.receive(body) != Status::done) return kBad;
  const auto hello = decode_hello(body);
  if (!hello) return kBad;
  std::optional<Engine> engine;
  if (channel.send(encode(welcome(*hello, open, engine))) != Status::done || !engine) return kBad;

  exit_when_closed(channel.fd());
  for (;;) {
    const Status received = channel.receive(body);
    if (received == Status::closed) return kGood;
    if (received != Status::done) return kBad;
    const auto order = decode_order(body);
    if (!order) return kBad;
    if (channel.send(encode(answer(*order, *engine))) != Status::done) return kBad;
  }
}

Engine open_nvrtc(const Hello& hello) {
  const auto nvrtc = std::make_shared<const Nvrtc>(hello.compiler.path);
  return {.build = nvrtc->id().build,
          .version = nvrtc->version(),
          .compile = [nvrtc](const Request& request) { return nvrtc->compile(request); }};
}

}  // namespace tilejit::compile
