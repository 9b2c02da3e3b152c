// Cache entries: no bytes crash the decoder, and it accepts exactly what the encoder writes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "tilejit/cache/store.hpp"

namespace {

using tilejit::cache::decode_entry;
using tilejit::cache::encode_entry;
using tilejit::cache::Entry;

void require(bool fact) {
  if (!fact) std::abort();
}

void check_decode(std::string_view file) {
  const std::optional<Entry> entry = decode_entry(file);
  if (entry) require(encode_entry(*entry) == file);
}

// Followed by a right digest, so that the fields before it are reached.
std::string with_digest(std::string_view text) {
  std::string file(text);
  const std::string hex = tilejit::cache::sha256_hex(text);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    file += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_decode(bytes);
  check_decode(with_digest(bytes));
  const std::size_t split = size == 0 ? 0 : data[0] % size;
  const Entry entry{std::string(bytes.substr(0, split)), std::string(bytes.substr(split))};
  require(decode_entry(encode_entry(entry)) == entry);
  return 0;
}
