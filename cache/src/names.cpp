#include "names.hpp"

#include <algorithm>
#include <stdexcept>

#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {
namespace {

bool is_hex(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool is_marker_char(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_' || c == ':';
}

}  // namespace

bool is_key(std::string_view key) noexcept {
  return key.size() == 64 && std::all_of(key.begin(), key.end(), is_hex);
}

bool is_entry_folder(std::string_view name) noexcept {
  return name.size() == 2 && is_hex(name[0]) && is_hex(name[1]);
}

std::string entry_name(std::string_view key) {
  return std::string(key) + ".cubin";
}

void check_key(std::string_view key) {
  if (is_key(key)) return;
  throw std::invalid_argument("a cache key is 64 lower-case hex digits, not '" + std::string(key) +
                              "'");
}

// A name must not lead out of its folder.
void check_marker(std::string_view name) {
  if (!name.empty() && name.size() <= 128 && name.front() != '.' &&
      std::all_of(name.begin(), name.end(), is_marker_char)) {
    return;
  }
  throw std::invalid_argument("'" + std::string(name) + "' cannot name a cache marker or its kind");
}

void check_suffix(std::string_view suffix) {
  const bool letters =
      std::all_of(suffix.begin(), suffix.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (letters && !suffix.empty() && suffix.size() <= 8 && suffix != "cubin" && suffix != "tmp" &&
      suffix != "damaged") {
    return;
  }
  throw std::invalid_argument("'" + std::string(suffix) +
                              "' cannot be the suffix of a text beside a cache entry");
}

void check_kind(std::string_view kind) {
  check_marker(kind);
  if (!is_entry_folder(kind) && kind != "lock") return;
  throw std::invalid_argument("'" + std::string(kind) +
                              "' cannot be a kind of marker: the cache uses that folder itself");
}

}  // namespace tilejit::cache
