// Finds where the cache has a kernel, without making the kernel.
#include "front/compiler_impl.hpp"
#include "front/key.hpp"

namespace tilejit {

std::vector<std::string> Compiler::Impl::builds() const {
  if (!installed_.build.empty()) return {installed_.build};
  std::vector<std::string> known = store.markers(front::kCompilers);
  if (known.empty()) known.emplace_back();
  return known;
}

Location Compiler::Impl::locate(const front::Planned& planned, front::Effort effort) {
  Location location;
  for (const std::string& build : builds()) {
    std::string key = cache::sha256_hex(front::key_text(planned.plan, build, line_info(), effort));
    if (const auto tier = store.locate(key)) return {std::move(key), front::tier_of(*tier)};
    if (location.key.empty()) location.key = std::move(key);
  }
  return location;
}

Location Compiler::locate(const Operation& op, const Target& target,
                          std::string_view device) const {
  return impl_->locate(impl_->plan(op, target, device), impl_->effort());
}

}  // namespace tilejit
