#include <memory>
#include <utility>

#include "runtime/compiler_impl.hpp"

namespace tilejit {

PendingArtifact Compiler::Impl::submit(runtime::Planned planned, CompileRequest request) {
  const std::string key = explain(planned).key;
  const auto shared = std::make_shared<const runtime::Planned>(std::move(planned));
  return queue_.submit(key, std::move(request), [this, shared] { return compile(*shared); });
}

ServiceStats Compiler::Impl::stats() const {
  return queue_.stats();
}

PendingArtifact Compiler::compile_async(const Fused& op, const Target& target,
                                        CompileRequest request) {
  return impl_->submit(impl_->plan(op, target, {}), std::move(request));
}

ServiceStats Compiler::service_stats() const {
  return impl_->stats();
}

}  // namespace tilejit
