#include "remote/http_client.hpp"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace tilejit::cache {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kIdleConnections = 16;
constexpr std::size_t kHeaderBytes = 64u << 10;
constexpr std::size_t kErrorBytes = 4096;
constexpr int kOk = 200;

// Blocks SIGPIPE: in some versions of libcurl TLS writes to closed sockets, which would kill the
// process.
class SigpipeBlock {
 public:
  SigpipeBlock() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    was_pending_ = is_pending();
    blocked_ = ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_) == 0;
  }
  ~SigpipeBlock() {
    if (!blocked_) return;
    const timespec now{};
    if (!was_pending_ && is_pending()) (void)::sigtimedwait(&pipe_, nullptr, &now);
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  static bool is_pending() noexcept {
    sigset_t pending;
    return ::sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
  }
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
  bool blocked_ = false;
};

// Receives what libcurl's callbacks get.
struct Receiver {
  const CurlApi& api;
  CURL* easy;
  std::size_t max_bytes;
  HttpResponse& response;
  std::size_t header_bytes = 0;
  std::size_t body_bytes = 0;
  bool too_large = false;
};

long status_of(const CurlApi& api, CURL* easy) {
  long status = 0;
  api.curl_easy_getinfo_(easy, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

std::uint64_t length_of(const CurlApi& api, CURL* easy) {
  curl_off_t length = -1;
  api.curl_easy_getinfo_(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  return length > 0 ? static_cast<std::uint64_t>(length) : 0;
}

// Any result except `count` ends the transfer. An exception must not pass through C.
std::size_t receive_body(const char* data, std::size_t, std::size_t count, void* user) noexcept {
  auto& receiver = *static_cast<Receiver*>(user);
  std::string& body = receiver.response.body;
  const bool wanted = status_of(receiver.api, receiver.easy) == kOk;
  receiver.too_large = count > receiver.max_bytes - receiver.body_bytes;
  if (receiver.too_large) return 0;
  receiver.body_bytes += count;
  try {
    if (wanted && body.empty()) {
      body.reserve(
          std::min<std::uint64_t>(length_of(receiver.api, receiver.easy), receiver.max_bytes));
    }
    body.append(data,
                wanted ? count : std::min(count, kErrorBytes - std::min(kErrorBytes, body.size())));
  } catch (...) {
    return 0;
  }
  return count;
}

std::size_t receive_header(const char*, std::size_t, std::size_t count, void* user) noexcept {
  auto& receiver = *static_cast<Receiver*>(user);
  receiver.header_bytes += count;
  return receiver.header_bytes <= kHeaderBytes ? count : 0;
}

HttpOutcome outcome_of(CURLcode code, const Receiver& receiver) noexcept {
  switch (code) {
    case CURLE_OK: return HttpOutcome::answered;
    case CURLE_OPERATION_TIMEDOUT: return HttpOutcome::timed_out;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: return HttpOutcome::unreachable;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return HttpOutcome::cut;
    case CURLE_FILESIZE_EXCEEDED: return HttpOutcome::too_large;
    case CURLE_WRITE_ERROR:
      return receiver.too_large ? HttpOutcome::too_large : HttpOutcome::malformed;
    default: return HttpOutcome::malformed;
  }
}

class HeaderList {
 public:
  HeaderList(const CurlApi& api, const std::vector<std::string>& headers) : api_(api) {
    for (const std::string& header : headers) add(header.c_str());
  }
  ~HeaderList() { api_.curl_slist_free_all_(list_); }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;

  void add(const char* header) {
    if (curl_slist* longer = api_.curl_slist_append_(list_, header)) list_ = longer;
  }
  [[nodiscard]] curl_slist* get() const noexcept { return list_; }

 private:
  const CurlApi& api_;
  curl_slist* list_ = nullptr;
};

}  // namespace

std::string_view to_string(HttpMethod method) noexcept {
  switch (method) {
    case HttpMethod::get: return "GET";
    case HttpMethod::head: return "HEAD";
    case HttpMethod::put: return "PUT";
  }
  return "?";
}

// One transfer at a time, and the connection that it leaves open for the next.
class HttpClient::Connection {
 public:
  explicit Connection(const CurlApi& api)
      : api_(api), multi_(api.curl_multi_init_()), easy_(api.curl_easy_init_()) {}
  ~Connection() {
    if (easy_ != nullptr) api_.curl_easy_cleanup_(easy_);
    if (multi_ != nullptr) (void)api_.curl_multi_cleanup_(multi_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  HttpResponse send(const HttpRequest& request, const HttpSettings& settings,
                    Clock::time_point deadline, const Stop& stop) {
    HttpResponse response;
    if (multi_ == nullptr || easy_ == nullptr) {
      response.detail = "libcurl is out of memory";
      return response;
    }
    Receiver receiver{
        .api = api_, .easy = easy_, .max_bytes = settings.max_bytes, .response = response};
    HeaderList headers(api_, request.headers);
    configure(settings, receiver, deadline);
    describe(request, headers);
    response.outcome = run(receiver, deadline, stop);
    read_info(response);
    api_.curl_easy_reset_(easy_);  // of this request only the connection stays
    return response;
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    // A version that does not know an option works without it; all required options are old.
    (void)api_.curl_easy_setopt_(easy_, option, value);
  }

  void configure(const HttpSettings& settings, Receiver& receiver, Clock::time_point deadline) {
    error_[0] = '\0';
    set(CURLOPT_ERRORBUFFER, error_);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L);  // otherwise a hanging name server holds us beyond the deadline
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PATH_AS_IS, 1L);  // sends exactly the path that is signed
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_CONNECTTIMEOUT_MS,
        std::max(1L, static_cast<long>(settings.connect_timeout.count())));
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    set(CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
    set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(settings.max_bytes));
    if (!settings.ca_file.empty()) set(CURLOPT_CAINFO, settings.ca_file.c_str());
    if (!settings.user.empty()) {
      set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
      set(CURLOPT_USERNAME, settings.user.c_str());
      set(CURLOPT_PASSWORD, settings.password.c_str());
    }
    set(CURLOPT_WRITEFUNCTION, &receive_body);
    set(CURLOPT_WRITEDATA, &receiver);
    set(CURLOPT_HEADERFUNCTION, &receive_header);
    set(CURLOPT_HEADERDATA, &receiver);
  }

  void describe(const HttpRequest& request, HeaderList& headers) {
    set(CURLOPT_URL, request.url.c_str());
    if (request.method == HttpMethod::head) set(CURLOPT_NOBODY, 1L);
    if (request.method == HttpMethod::put) {
      // Sent from memory, so that libcurl can send it again if a kept connection turns out to be
      // closed.
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_POSTFIELDS, request.body.data());
      set(CURLOPT_CUSTOMREQUEST, "PUT");
      headers.add("Content-Type: application/octet-stream");
      headers.add("Expect:");  // a server that does not know it would delay us by a second
    }
    if (headers.get() != nullptr) set(CURLOPT_HTTPHEADER, headers.get());
  }

  HttpOutcome run(const Receiver& receiver, Clock::time_point deadline, const Stop& stop) {
    if (api_.curl_multi_add_handle_(multi_, easy_) != CURLM_OK) return HttpOutcome::malformed;
    const HttpOutcome outcome = poll(receiver, deadline, stop);
    (void)api_.curl_multi_remove_handle_(multi_, easy_);
    return outcome;
  }

  HttpOutcome poll(const Receiver& receiver, Clock::time_point deadline, const Stop& stop) {
    for (;;) {
      int running = 0, left = 0;
      if (api_.curl_multi_perform_(multi_, &running) != CURLM_OK) return HttpOutcome::malformed;
      if (const CURLMsg* message = api_.curl_multi_info_read_(multi_, &left)) {
        return outcome_of(message->data.result, receiver);
      }
      if (stop && stop()) return HttpOutcome::stopped;
      const auto now = Clock::now();
      // libcurl ends a transfer at its time-out. This check covers calls in which it blocks
      // nevertheless.
      if (now > deadline + kStopInterval) return HttpOutcome::timed_out;
      const auto wait = stop ? kStopInterval : milliseconds(1000);
      const auto until_deadline = std::chrono::ceil<milliseconds>(deadline - now) + milliseconds(1);
      const auto bounded = std::clamp(until_deadline, milliseconds(1), wait);
      (void)api_.curl_multi_poll_(multi_, nullptr, 0, static_cast<int>(bounded.count()), nullptr);
    }
  }

  void read_info(HttpResponse& response) {
    response.status = static_cast<int>(status_of(api_, easy_));
    response.length = length_of(api_, easy_);
    response.detail = error_;
    const char* redirect = nullptr;
    api_.curl_easy_getinfo_(easy_, CURLINFO_REDIRECT_URL, &redirect);
    if (redirect != nullptr) response.redirect = redirect;
    curl_off_t seconds = 0;
    api_.curl_easy_getinfo_(easy_, CURLINFO_RETRY_AFTER, &seconds);
    response.retry_after = std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, 3600));
  }

  const CurlApi& api_;
  CURLM* multi_;
  CURL* easy_;
  char error_[CURL_ERROR_SIZE] = {};
};

HttpClient::HttpClient(const CurlApi& api, HttpSettings settings)
    : api_(api), settings_(std::move(settings)) {}

HttpClient::~HttpClient() {
  const SigpipeBlock block;  // closing a TLS connection writes
  idle_.clear();
}

std::unique_ptr<HttpClient::Connection> HttpClient::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Connection>(api_);
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void HttpClient::give_back(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleConnections) idle_.push_back(std::move(connection));
}

HttpResponse HttpClient::send(const HttpRequest& request, Clock::time_point deadline,
                              const Stop& stop) {
  const SigpipeBlock block;
  auto connection = take();
  HttpResponse response = connection->send(request, settings_, deadline, stop);
  give_back(std::move(connection));
  return response;
}

}  // namespace tilejit::cache
