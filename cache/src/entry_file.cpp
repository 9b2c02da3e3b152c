#include "entry_file.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "posix_file.hpp"

namespace tilejit::cache {
namespace {

using State = EntryFile::State;

constexpr std::uint64_t kUnquestionedBytes = 4u << 20;

struct Trailer {
  char bytes[kTrailerBytes];
  [[nodiscard]] std::string_view text() const noexcept { return {bytes, kTrailerBytes}; }
};

int read_trailer(int fd, Extent extent, Trailer& trailer) noexcept {
  return read_exactly(fd, trailer.bytes, kTrailerBytes,
                      extent.offset + extent.bytes - kTrailerBytes);
}

State state_of(std::string_view trailer) noexcept {
  return is_other_format(trailer) ? State::other_format : State::damaged;
}

}  // namespace

EntryFile read_entry(int fd, Extent extent) {
  if (extent.bytes < kTrailerBytes) return {};
  if (extent.bytes > kUnquestionedBytes) {
    Trailer trailer;
    if (const int error = read_trailer(fd, extent, trailer)) {
      return {.state = State::unreadable, .error = error};
    }
    if (!parse_trailer(trailer.text(), extent.bytes)) return {.state = state_of(trailer.text())};
  }
  EntryFile file{.state = State::whole, .entry = std::make_shared<Entry>()};
  std::string& bytes = file.entry->payload;
  bytes.resize(extent.bytes);
  if (const int error = read_exactly(fd, bytes.data(), bytes.size(), extent.offset)) {
    return {.state = State::unreadable, .error = error};
  }
  const auto lengths = verify_entry(bytes);
  if (!lengths) {
    return {.state = state_of(std::string_view(bytes).substr(bytes.size() - kTrailerBytes))};
  }
  std::memcpy(file.digest.data(), bytes.data() + bytes.size() - sizeof(Digest), sizeof(Digest));
  file.entry->metadata.assign(bytes, lengths->payload, lengths->metadata);
  bytes.resize(lengths->payload);
  return file;
}

std::optional<EntryLengths> read_lengths(int fd, Extent extent) noexcept {
  Trailer trailer;
  if (extent.bytes < kTrailerBytes || read_trailer(fd, extent, trailer) != 0) return std::nullopt;
  return parse_trailer(trailer.text(), extent.bytes);
}

}  // namespace tilejit::cache
