#include "compile/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "compile/message.hpp"

namespace tilejit::compile {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{50};

}  // namespace

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

/// Waits until the socket can be read or written.
Channel::Status Channel::wait(short events, const Patience& patience) {
  for (;;) {
    int milliseconds = patience.watch ? static_cast<int>(kWatchInterval.count()) : -1;
    if (patience.until) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(*patience.until - Clock::now()).count();
      if (left <= 0) return Status::timed_out;
      const auto most = static_cast<long>(milliseconds < 0 ? 1 << 30 : milliseconds);
      milliseconds = static_cast<int>(std::min<long>(left, most));
    }
    pollfd socket{.fd = socket_.get(), .events = events, .revents = 0};
    const int ready = ::poll(&socket, 1, milliseconds);
    // Also if the other end is closed: the next call reports that.
    if (ready > 0) return Status::done;
    if (ready < 0 && errno != EINTR) return Status::closed;
    if (patience.watch && !patience.watch()) return Status::stopped;
  }
}

Channel::Status Channel::write(std::string_view bytes, const Patience& patience) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const Status status = wait(POLLOUT, patience); status != Status::done) return status;
    } else if (errno != EINTR) {
      return Status::closed;
    }
  }
  return Status::done;
}

Channel::Status Channel::read(char* out, std::size_t bytes, const Patience& patience) {
  while (bytes > 0) {
    if (const Status status = wait(POLLIN, patience); status != Status::done) return status;
    const ssize_t got = ::recv(socket_.get(), out, bytes, MSG_DONTWAIT);
    if (got > 0) {
      out += got;
      bytes -= static_cast<std::size_t>(got);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      return Status::closed;
    }
  }
  return Status::done;
}

Channel::Status Channel::send(std::string_view body, const Patience& patience) {
  if (body.empty() || body.size() > kMaxBody) return Status::rubbish;
  const Status status = write(frame_header(body.size()), patience);
  return status == Status::done ? write(body, patience) : status;
}

Channel::Status Channel::receive(std::string& body, const Patience& patience) {
  std::string header(kFrameHeader, '\0');
  if (const Status status = read(header.data(), header.size(), patience); status != Status::done) {
    return status;
  }
  const auto bytes = body_bytes(header);
  if (!bytes) return Status::rubbish;
  // Grows as bytes arrive, so that a length alone allocates nothing.
  constexpr std::size_t kPiece = 1u << 20;
  body.clear();
  while (body.size() < *bytes) {
    const std::size_t had = body.size();
    body.resize(std::min(*bytes, had + kPiece));
    const Status status = read(body.data() + had, body.size() - had, patience);
    if (status != Status::done) return status;
  }
  return Status::done;
}

}  // namespace tilejit::compile
