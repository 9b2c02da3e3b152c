// A remote's answers and urls: nothing crashes, and no redirect leads to another origin.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "remote/judgement.hpp"
#include "remote/remote_address.hpp"

namespace {

using namespace tilejit::cache;

void require(bool fact) {
  if (!fact) std::abort();
}

void check_url(const std::string& url) {
  RemoteOptions options;
  options.url = url;
  try {
    const RemoteAddress address = remote_address_of(options);
    require(origin_of(address.origin + "/") == address.origin);
    require(address.path_of(std::string(64, 'a')).front() == '/');
    require(address.user.empty() || address.name.find('@') == std::string::npos);
  } catch (const std::invalid_argument&) {
  }
}

void check_answer(HttpMethod method, std::string_view text, bool s3) {
  static const RemoteAddress addresses[] = {remote_address_of({.url = "http://host:8080/"}),
                                            remote_address_of({.url = "s3://bucket/prefix"})};
  const RemoteAddress& address = addresses[s3 ? 1 : 0];
  HttpResponse response;
  response.outcome = HttpOutcome::answered;
  response.status = text.empty() ? 200 : 100 + static_cast<unsigned char>(text[0]) * 2;
  response.body = text.substr(text.size() / 2);
  response.redirect = text.substr(0, text.size() / 2);
  const Judgement made = judge(method, response, address, {});
  require(made.redirect.empty() || origin_of(made.redirect) == address.origin);
  require(made.result.verdict == Verdict::done || made.result.bytes.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_url(std::string(bytes));
  check_url("http://" + std::string(bytes));
  for (const HttpMethod method : {HttpMethod::get, HttpMethod::head, HttpMethod::put}) {
    check_answer(method, bytes, false);
    check_answer(method, bytes, true);
  }
  return 0;
}
