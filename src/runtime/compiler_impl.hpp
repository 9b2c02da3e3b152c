#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "compile/nvrtc.hpp"
#include "plan/plan.hpp"
#include "runtime/line_info.hpp"
#include "spec/analysis.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {

namespace runtime {

/// The steps before the key, and what they took.
struct Planned {
  spec::Analysis analysis;
  plan::Plan plan;
  double milliseconds = 0;
};
/// Throws what `validate` throws.
[[nodiscard]] Planned make_planned(const Fused& op, const Target& target);

/// The key in a PEM file that bundles must be signed by; nothing for an empty path. Throws
/// Error{invalid_argument} if it is none.
[[nodiscard]] std::optional<cache::PublicKey> bundle_signer(const std::filesystem::path& path);

/// What NVRTC is asked to do for a plan.
[[nodiscard]] compile::Request make_request(const plan::Plan& plan);

}  // namespace runtime

struct Compiler::Impl {
  explicit Impl(Options settings);

  /// As make_planned, with the knobs that the tuning file has for the device (its name, may be
  /// empty), if they can be honoured. Thread-safe.
  [[nodiscard]] runtime::Planned plan(const Fused& op, const Target& target,
                                      std::string_view device);
  /// Those knobs and their plan; nothing if there are none, or `op` pins its own.
  struct Tuned {
    Tuning tuning;
    plan::Plan plan;
  };
  [[nodiscard]] std::optional<Tuned> find_tuned(const Fused& op, const runtime::Planned& planned,
                                                std::string_view device);
  /// The cubin of a plan, through the cache. Throws as Compiler::compile. Thread-safe.
  [[nodiscard]] Artifact compile(const runtime::Planned& planned);
  [[nodiscard]] KeyExplanation explain(const runtime::Planned& planned) const;
  /// NVRTC, loaded by the first call that succeeds. Throws Error{no_compiler}. Thread-safe.
  [[nodiscard]] const compile::Nvrtc& nvrtc();

  const Options options;
  cache::Store store;

 private:
  /// Without a compiler: an entry made by any of those that have filled this folder.
  [[nodiscard]] std::optional<Artifact> find_of_any_compiler(const runtime::Planned& planned,
                                                             StageTimes times);
  [[nodiscard]] Artifact find_or_make(const runtime::Planned& planned, const std::string& build,
                                      StageTimes times);
  [[nodiscard]] cache::Entry make(const plan::Plan& plan, const std::string& key,
                                  const std::string& key_text, StageTimes& times);
  void keep(const std::string& key, const plan::Plan& plan, const compile::Compiled& compiled);
  /// Never throws for want of a disassembler, nor for its failures: warns of the first.
  void keep_sass(const std::string& key, const std::string& cubin);
  [[nodiscard]] runtime::LineInfo line_info() const noexcept;

  /// Read at the first request.
  [[nodiscard]] const TuningFile& tuning_file();

  std::once_flag sass_warned_;
  std::once_flag tuning_read_;
  TuningFile tuning_;
  const std::string build_;  // of the compiler that would compile; empty if none is installed
  std::mutex mutex_;         // guards what follows, which is constant once made
  std::optional<compile::Nvrtc> nvrtc_;
};

}  // namespace tilejit
