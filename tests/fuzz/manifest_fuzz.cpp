// Any bytes as a manifest: every line is an entry that can be written again, or a fault; a text
// that was cut anywhere gives no more entries than the whole.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tilejit/manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilejit;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)is_manifest(text);
  const Manifest manifest = parse_manifest(text);
  for (const ManifestEntry& entry : manifest.entries) {
    const Manifest again = parse_manifest(manifest_line(entry.op, entry.target));
    if (again.entries.size() != 1 || !(again.entries[0].op == entry.op) || entry.uses == 0) {
      std::abort();
    }
  }
  return 0;
}
