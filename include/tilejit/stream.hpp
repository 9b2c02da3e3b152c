#pragma once

#include <cstdint>
#include <memory>
#include <optional>

struct CUstream_st;  // CUDA's stream; CUstream and cudaStream_t are pointers to it
struct CUevent_st;   // CUDA's event, likewise

namespace tilejit {

class Runtime;

/// A CUDA stream of any library: CUstream or cudaStream_t. nullptr is the legacy default stream,
/// even for callers compiled with CUDA_API_PER_THREAD_DEFAULT_STREAM.
using Stream = ::CUstream_st*;

/// The legacy default stream: waits for the blocking streams of its context, and they for it.
[[nodiscard]] inline Stream legacy_stream() noexcept {
  return nullptr;
}
/// The calling thread's own default stream (CU_STREAM_PER_THREAD); it waits for the legacy one.
[[nodiscard]] inline Stream per_thread_stream() noexcept {
  return reinterpret_cast<Stream>(std::uintptr_t{2});
}

struct StreamOptions {
  /// Whether the stream and the legacy default stream wait for each other.
  bool blocking = false;
  /// Lower numbers go first. A device has a range, often -5 to 0; outside it:
  /// Error{invalid_argument}, which names the range.
  int priority = 0;
};

/// A stream of the Runtime's device. Its destructor does not wait; what is on the stream is still
/// done. Move-only; may outlive the Runtime. Thread-safe.
class OwnedStream {
 public:
  /// Throws Error{driver_call}.
  explicit OwnedStream(const Runtime& runtime, StreamOptions options = {});
  ~OwnedStream();
  OwnedStream(OwnedStream&&) noexcept;
  OwnedStream& operator=(OwnedStream&&) noexcept;

  [[nodiscard]] Stream get() const noexcept;
  operator Stream() const noexcept { return get(); }  // NOLINT: it is one

  /// Waits for everything on the stream. Throws Error{driver_call}, also for a kernel's fault; and
  /// as Runtime::synchronize for assertions, of whatever stream.
  void synchronize() const;
  /// True if there is nothing left to do. Throws as synchronize.
  [[nodiscard]] bool is_idle() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A point in a stream that other streams and the host can wait for. Move-only; may outlive the
/// Runtime. Thread-safe.
class Event {
 public:
  enum class Timing : std::uint8_t { none, on };
  /// Without timing an event costs less. Throws Error{driver_call}.
  explicit Event(const Runtime& runtime, Timing timing = Timing::none);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  /// Marks what has been put on `stream` so far. All throw Error{driver_call}.
  void record(Stream stream);
  /// What is put on `stream` from now on waits for the mark; the host does not. Before the first
  /// mark there is nothing to wait for.
  void wait(Stream stream) const;
  /// The host waits for the mark. Both throw as Runtime::synchronize for assertions.
  void synchronize() const;
  [[nodiscard]] bool is_done() const;
  /// From the mark of `begin` to this one; both with Timing::on, and done.
  [[nodiscard]] double milliseconds_since(const Event& begin) const;

  [[nodiscard]] ::CUevent_st* get() const noexcept;

 private:
  friend class GraphBuilder;
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with graphs that have nodes of it
};

}  // namespace tilejit
