#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tilejit::compile {

/// A file descriptor, closed by its destructor. Move-only.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  ~UniqueFd();
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

/// How long an exchange may take. `watch` is called every 50 ms meanwhile; if it returns false, the
/// exchange stops.
struct Patience {
  std::optional<std::chrono::steady_clock::time_point> until = {};
  std::function<bool()> watch = {};
};

/// One end of a stream socket that carries frames. Never raises SIGPIPE.
class Channel {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Status : std::uint8_t {
    done,
    closed,     ///< the other end is gone
    timed_out,  ///< `until` has passed
    rubbish,    ///< not a frame, or one that is too large
    stopped,    ///< `watch` returned false
  };
  explicit Channel(UniqueFd socket) noexcept : socket_(std::move(socket)) {}

  [[nodiscard]] Status send(std::string_view body, const Patience& patience = {});
  /// On Status::done, `body` holds the body of the next frame.
  [[nodiscard]] Status receive(std::string& body, const Patience& patience = {});
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

 private:
  Status write(std::string_view bytes, const Patience& patience);
  Status read(char* out, std::size_t bytes, const Patience& patience);
  Status wait(short events, const Patience& patience);

  UniqueFd socket_;
};

}  // namespace tilejit::compile
