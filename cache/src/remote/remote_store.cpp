#include "remote/remote_store.hpp"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <utility>

#include "remote/circuit_breaker.hpp"
#include "remote/curl_api.hpp"
#include "remote/remote_address.hpp"
#include "remote/remote_client.hpp"
#include "remote/upload_queue.hpp"

namespace tilejit::cache {
namespace {

using Count = std::atomic<std::uint64_t>;

void add(Count& count, std::uint64_t n = 1) {
  count.fetch_add(n, std::memory_order_relaxed);
}

void raise(Count& highest, std::uint64_t value) {
  std::uint64_t seen = highest.load(std::memory_order_relaxed);
  while (seen < value && !highest.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// Whether the next request would have the same result.
bool repeats(Verdict verdict) noexcept {
  return verdict == Verdict::unreachable || verdict == Verdict::timed_out ||
         verdict == Verdict::refused || verdict == Verdict::redirected;
}

// Kinds of trouble that are warned of once: bits 0 to 11 are the Verdicts of downloads, the next 12
// those of uploads.
constexpr unsigned kUploadBits = 12, kQueueBit = 24, kLostBit = 25, kLibraryBit = 26;

struct Tally : RequestTally {
  Count hits = 0, misses = 0, unavailable = 0, skipped = 0, damaged = 0;
  Count uploads = 0, uploads_failed = 0, uploads_stopped = 0, uploads_dropped = 0, bytes_down = 0,
        bytes_up = 0;
  Count requests = 0, request_ns = 0, longest_ns = 0;
};

}  // namespace

struct RemoteStore::Impl {
  // Connections and the upload thread. A forked child makes its own: it must not touch these.
  struct Session {
    Session(const CurlApi& api, Impl& owner)
        : client(api, owner.address, owner.options, owner.tally),
          queue({.jobs = owner.options.queued_uploads, .bytes = owner.options.queued_bytes},
                [&owner, this](UploadJob& job) { owner.work(*this, job); }) {}
    const pid_t process = ::getpid();
    RemoteClient client;
    UploadQueue queue;
  };

  explicit Impl(RemoteOptions given);
  ~Impl();

  Session* current_session();
  RemoteAnswer ask(HttpMethod method, const std::string& key);
  RemoteAnswer skip(const std::string& key);
  RemoteAnswer settle(HttpMethod method, RequestResult result);
  void work(Session& session, UploadJob& job) noexcept;
  void probe(Session& session, const std::string& key);
  void upload(Session& session, const UploadJob& job);
  UploadStatus drop(const std::string& why);
  void warn_once(Verdict verdict, bool upload, const std::string& reason);
  void warn_once(unsigned bit, const std::string& message);

  const RemoteOptions options;
  const RemoteAddress address;
  CircuitBreaker reads, writes;
  std::atomic<Session*> session = nullptr;
  Tally tally;
  std::atomic<std::uint32_t> warned = 0;
};

RemoteStore::Impl::Impl(RemoteOptions given)
    : options(std::move(given)),
      address(remote_address_of(options)),
      reads(options.retry_after),
      writes(options.retry_after) {}

RemoteStore::Impl::~Impl() {
  Session* last = session.load();
  // A session of another process has locks and a thread that are not ours, so it is abandoned.
  if (last == nullptr || last->process != ::getpid()) return;
  if (const std::uint64_t lost =
          last->queue.close(options.shutdown_timeout) + tally.uploads_stopped) {
    warn_once(kLostBit, std::to_string(lost) + (lost == 1 ? " upload was" : " uploads were") +
                            " not done within the " +
                            std::to_string(options.shutdown_timeout.count()) +
                            " ms that the end waits, and lost");
  }
  delete last;
}

RemoteStore::Impl::Session* RemoteStore::Impl::current_session() {
  Session* current = session.load(std::memory_order_acquire);
  if (current != nullptr && current->process == ::getpid()) return current;
  const LoadedCurl& curl = load_curl();
  if (curl.api == nullptr) {
    reads.open_for_good();
    writes.open_for_good();
    warn_once(kLibraryBit, curl.reason);
    return nullptr;
  }
  auto made = std::make_unique<Session>(*curl.api, *this);
  if (session.compare_exchange_strong(current, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  return current;  // another thread was first
}

RemoteAnswer RemoteStore::Impl::skip(const std::string& key) {
  add(tally.skipped);
  add(tally.unavailable);
  if (reads.claim_retry()) {
    if (Session* current = current_session()) {
      (void)current->queue.push({.key = key, .bytes = {}, .probe = true});
    }
  }
  return {};
}

RemoteAnswer RemoteStore::Impl::ask(HttpMethod method, const std::string& key) {
  if (reads.open()) return skip(key);
  Session* current = current_session();
  if (current == nullptr) return skip(key);
  const auto start = Clock::now();
  RequestResult result = current->client.request(method, key, {}, start + options.timeout);
  const auto ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
  add(tally.requests);
  add(tally.request_ns, ns);
  raise(tally.longest_ns, ns);
  return settle(method, std::move(result));
}

RemoteAnswer RemoteStore::Impl::settle(HttpMethod method, RequestResult result) {
  switch (result.verdict) {
    case Verdict::done:
      reads.succeeded();
      add(tally.hits);
      if (method == HttpMethod::get) add(tally.bytes_down, result.length);
      return {
          .status = RemoteStatus::hit, .bytes = std::move(result.bytes), .length = result.length};
    case Verdict::denied: warn_once(result.verdict, false, result.reason); [[fallthrough]];
    case Verdict::miss:
      reads.succeeded();
      add(tally.misses);
      return {.status = RemoteStatus::miss};
    case Verdict::damaged: add(tally.damaged); [[fallthrough]];
    default:
      if (result.verdict != Verdict::too_large) reads.failed(repeats(result.verdict));
      add(tally.unavailable);
      warn_once(result.verdict, false, result.reason);
      return {};
  }
}

void RemoteStore::Impl::probe(Session& session, const std::string& key) {
  const auto deadline = Clock::now() + options.timeout;
  const RequestResult result = session.client.request(HttpMethod::head, key, {}, deadline,
                                                      [&] { return session.queue.stopping(); });
  if (result.verdict == Verdict::done || result.verdict == Verdict::miss ||
      result.verdict == Verdict::denied) {
    reads.succeeded();
  }
}

void RemoteStore::Impl::upload(Session& session, const UploadJob& job) {
  // The remote may have failed after this was queued.
  if (reads.open() || (writes.open() && !job.retry)) {
    add(tally.uploads_dropped);
    return;
  }
  const auto deadline = Clock::now() + options.upload_timeout;
  const RequestResult result = session.client.request(HttpMethod::put, job.key, job.bytes, deadline,
                                                      [&] { return session.queue.stopping(); });
  if (result.verdict == Verdict::done) {
    writes.succeeded();
    add(tally.uploads);
    add(tally.bytes_up, job.bytes.size());
    return;
  }
  add(tally.uploads_failed);
  if (result.verdict == Verdict::stopped) {
    add(tally.uploads_stopped);
    return;
  }
  // If uploads cannot reach the server, neither can downloads, and so no caller has to find out.
  if (result.verdict == Verdict::unreachable) reads.failed(true);
  if (result.verdict != Verdict::too_large) writes.failed(repeats(result.verdict));
  warn_once(result.verdict, true, result.reason);
}

void RemoteStore::Impl::work(Session& session, UploadJob& job) noexcept {
  try {
    job.probe ? probe(session, job.key) : upload(session, job);
  } catch (const std::exception&) {  // out of memory; the next job may be smaller
    add(tally.uploads_failed);
  }
}

UploadStatus RemoteStore::Impl::drop(const std::string& why) {
  add(tally.uploads_dropped);
  warn_once(kQueueBit, why);
  return UploadStatus::dropped;
}

void RemoteStore::Impl::warn_once(Verdict verdict, bool upload, const std::string& reason) {
  const auto bit = static_cast<unsigned>(verdict) + (upload ? kUploadBits : 0);
  const bool harmless = verdict == Verdict::denied || options.mode == RemoteMode::must_hit;
  const char* effect = harmless ? ""
                       : upload ? " (what was to be uploaded is not)"
                                : " (going on without it)";
  warn_once(bit, reason + effect);
}

void RemoteStore::Impl::warn_once(unsigned bit, const std::string& message) {
  const std::uint32_t mask = 1u << bit;
  if ((warned.fetch_or(mask, std::memory_order_relaxed) & mask) != 0 || !options.warn) return;
  options.warn("remote cache " + address.name + ": " + message);
}

RemoteStore::RemoteStore(RemoteOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

RemoteStore::~RemoteStore() = default;

RemoteAnswer RemoteStore::get(const std::string& key) {
  return impl_->ask(HttpMethod::get, key);
}

RemoteAnswer RemoteStore::head(const std::string& key) {
  return impl_->ask(HttpMethod::head, key);
}

UploadStatus RemoteStore::put(const std::string& key, std::string bytes) {
  Impl& impl = *impl_;
  if (impl.options.mode != RemoteMode::read_write) return UploadStatus::off;
  const bool retry = impl.writes.open() && impl.writes.claim_retry();
  if (impl.reads.open() || (impl.writes.open() && !retry)) {
    add(impl.tally.uploads_dropped);
    return UploadStatus::off;
  }
  if (bytes.size() > impl.options.max_bytes) {
    return impl.drop("an entry of " + std::to_string(bytes.size()) +
                     " bytes is too large to be uploaded; raise TILEJIT_CACHE_REMOTE_MAX_BYTES");
  }
  Impl::Session* session = impl.current_session();
  if (session == nullptr) {
    add(impl.tally.uploads_dropped);
    return UploadStatus::off;
  }
  if (session->queue.push({.key = key, .bytes = std::move(bytes), .retry = retry}))
    return UploadStatus::queued;
  return impl.drop("uploads come faster than it takes them, and some are dropped");
}

bool RemoteStore::wait_for_uploads(std::chrono::milliseconds patience) {
  Impl::Session* session = impl_->session.load(std::memory_order_acquire);
  return session == nullptr || session->process != ::getpid() || session->queue.wait(patience);
}

RemoteCounters RemoteStore::counters() const {
  const Tally& tally = impl_->tally;
  return {.hits = tally.hits,
          .misses = tally.misses,
          .unavailable = tally.unavailable,
          .skipped = tally.skipped,
          .damaged = tally.damaged,
          .uploads = tally.uploads,
          .uploads_failed = tally.uploads_failed,
          .uploads_dropped = tally.uploads_dropped,
          .bytes_down = tally.bytes_down,
          .bytes_up = tally.bytes_up,
          .retries = tally.retries,
          .timeouts = tally.timeouts,
          .requests = tally.requests,
          .request_ns = tally.request_ns,
          .longest_ns = tally.longest_ns};
}

RemoteMode RemoteStore::mode() const noexcept {
  return impl_->options.mode;
}

const std::string& RemoteStore::name() const noexcept {
  return impl_->address.name;
}

}  // namespace tilejit::cache
