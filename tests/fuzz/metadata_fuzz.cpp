// The metadata of cache entries, as the command reads it: no text crashes it or nests too deep to
// be printed, a document does not differ from itself, and none belongs to a key that nothing hashes
// to.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cache/cache_metadata.hpp"
#include "tilejit/cache_identity.hpp"
#include "tilejit/printable.hpp"
#include "tilejit/why.hpp"

namespace {

void require(bool fact) {
  if (!fact) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilejit::cli;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto metadata = parse_metadata(text);
  require(metadata.is_object());
  (void)text_member(metadata, "kernel");
  require(tilejit::key_differences(text, text).empty());
  require(!tilejit::is_entry_of(std::string(64, '0'), text));
  require(tilejit::printable(tilejit::printable(text)) == tilejit::printable(text));
  const std::string nested = std::string(size, '[') + std::string(size, ']');
  require(parse_metadata("{\"a\":" + nested + "}").empty() == (size > 64 || size == 0));
  return 0;
}
