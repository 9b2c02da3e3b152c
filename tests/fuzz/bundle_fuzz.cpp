// Bundles: no bytes crash a reader, a damaged bundle serves only what was put in, and an intact one
// verifies. The input is made into a file with right checksums, then a few of its bytes are
// changed.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tilejit/cache/bundle.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tilejit::cache;

void require(bool fact) {
  if (!fact) std::abort();
}

const fs::path& path() {
  static const fs::path file =
      fs::temp_directory_path() / ("tilejit-bundle-fuzz-" + std::to_string(::getpid()));
  return file;
}

void write(std::string_view bytes) {
  fs::remove(path());
  std::ofstream(path(), std::ios::binary) << bytes;
}

std::string read() {
  std::ifstream in(path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

using Entries = std::map<std::string, Entry>;

// Every answer is right or missing; true if the file is reported as intact.
bool look_at(const Entries& entries) {
  try {
    const Bundle bundle(path());
    for (const EntryInfo& info : bundle.list()) {
      (void)bundle.read(info.key);
      (void)bundle.metadata(info.key);
    }
    for (const auto& [key, entry] : entries) {
      const auto found = bundle.read(key);
      require(!found || *found == entry);
    }
    (void)bundle.markers("kind");
    (void)bundle.signer();
    return bundle.verify().damaged.empty();
  } catch (const std::runtime_error&) {
    return false;
  }
}

// Payloads of 16 bytes.
Entries entries_of(std::string_view bytes) {
  Entries entries;
  for (std::size_t i = 0; i < bytes.size(); i += 16) {
    const std::string payload(bytes.substr(i, 16));
    entries[sha256_hex(payload)] = {payload, "{}"};
  }
  return entries;
}

void write_bundle(const Entries& entries) {
  BundleWriter writer(path());
  for (const auto& [key, entry] : entries) writer.add(key, entry);
  writer.add_marker("kind", "name");
  writer.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  write(bytes);
  (void)look_at({});

  const Entries entries = entries_of(bytes.substr(0, 256));
  write_bundle(entries);
  require(look_at(entries));
  const std::string good = read();
  std::string changed = good;
  for (std::size_t i = 0; i + 2 < size && i < 12; i += 3) {  // place (2 bytes), what to add
    const std::size_t at = (data[i] * 256u + data[i + 1]) % changed.size();
    changed[at] = static_cast<char>(changed[at] + data[i + 2]);
  }
  write(changed);
  require(look_at(entries) == (changed == good));
  fs::remove(path());
  return 0;
}
