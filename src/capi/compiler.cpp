#include "capi/handles.hpp"
#include "capi/json.hpp"
#include "capi/parse.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/why.hpp"

using namespace tilejit;
using namespace tilejit::capi;
using nlohmann::ordered_json;

namespace {

Compiler& compiler_of(tj_compiler* handle) {
  return *required(handle, "compiler").compiler;
}

ordered_json counters_json(const cache::TierCounters& tier) {
  return {{"hits", tier.hits},
          {"misses", tier.misses},
          {"damaged", tier.damaged},
          {"failures", tier.failures},
          {"nanoseconds", tier.nanoseconds}};
}

ordered_json counters_json(const cache::Counters& counters) {
  return {{"memory", counters_json(counters.memory)},
          {"disk", counters_json(counters.disk)},
          {"read_only", counters_json(counters.read_only)},
          {"remote", counters_json(counters.remote)},
          {"uploads", counters.uploads},
          {"made", counters.made},
          {"make_failures", counters.make_failures},
          {"lock_waits", counters.lock_waits},
          {"evicted", counters.evicted}};
}

ordered_json why_json(const std::string& key, const std::optional<NearestEntry>& other) {
  ordered_json document = {
      {"key", key}, {"other", nullptr}, {"differences", ordered_json::array()}};
  if (!other) return document;
  document["other"] = {{"key", other->key}, {"name", other->name}};
  for (const KeyDifference& difference : other->differences) {
    document["differences"].push_back(
        {{"field", difference.field}, {"wanted", difference.wanted}, {"other", difference.other}});
  }
  return document;
}

}  // namespace

extern "C" {

tj_status tj_compiler_create(const char* options, tj_compiler** compiler) {
  return guarded([&] {
    (void)required(compiler, "compiler");
    *compiler = new tj_compiler{std::make_shared<Compiler>(parse_options(options))};
  });
}

void tj_compiler_destroy(tj_compiler* compiler) {
  delete compiler;
}

tj_status tj_compiler_compile(tj_compiler* compiler, const char* spec, const char* target,
                              tj_artifact** artifact) {
  return guarded([&] {
    (void)required(artifact, "artifact");
    *artifact = new tj_artifact(compiler_of(compiler).compile(
        parse_spec(spec, compiler_of(compiler).options()), parse_target_text(target)));
  });
}

tj_status tj_compiler_listing(tj_compiler* compiler, const char* spec, const char* target,
                              char** ptx, char** log) {
  return guarded([&] {
    const Listing listing = compiler_of(compiler).listing(
        parse_spec(spec, compiler_of(compiler).options()), parse_target_text(target));
    const auto copy = [](char** to, const std::string& text) {
      return std::unique_ptr<char, decltype(&tj_free)>(to != nullptr ? copy_text(text) : nullptr,
                                                       tj_free);
    };
    auto ptx_copy = copy(ptx, listing.ptx);
    auto log_copy = copy(log, listing.log);
    if (ptx != nullptr) *ptx = ptx_copy.release();
    if (log != nullptr) *log = log_copy.release();
  });
}

tj_status tj_compiler_nvrtc(tj_compiler* compiler, char** json) {
  return guarded([&] {
    (void)required(json, "json");
    const NvrtcInfo info = compiler_of(compiler).nvrtc();
    *json = json_text({{"path", info.path},
                       {"version", info.version},
                       {"build", info.build},
                       {"supported", info.supported}});
  });
}

tj_status tj_compiler_explain(tj_compiler* compiler, const char* spec, const char* target,
                              char** json) {
  return guarded([&] {
    (void)required(json, "json");
    const Compiler& known = compiler_of(compiler);
    const KeyExplanation found =
        known.explain(parse_spec(spec, compiler_of(compiler).options()), parse_target_text(target));
    const auto answer = known.cache().find(found.key);
    *json = json_text({{"key", found.key},
                       {"tier", answer ? ordered_json(cache::to_string(answer->tier)) : nullptr},
                       {"fields", ordered_json::parse(found.fields)}});
  });
}

tj_status tj_compiler_why(tj_compiler* compiler, const char* spec, const char* target,
                          const char* other_spec, char** json) {
  return guarded([&] {
    (void)required(json, "json");
    const Compiler& known = compiler_of(compiler);
    const Target wanted_target = parse_target_text(target);
    const KeyExplanation wanted =
        known.explain(parse_spec(spec, compiler_of(compiler).options()), wanted_target);
    if (other_spec == nullptr) {
      *json = json_text(why_json(wanted.key, nearest_entry(known, wanted)));
      return;
    }
    const Operation op = parse_spec(other_spec, known.options(), "other_spec");
    const KeyExplanation other = known.explain(op, wanted_target);
    *json =
        json_text(why_json(wanted.key, NearestEntry{other.key, op.name(),
                                                    key_differences(wanted.fields, other.fields)}));
  });
}

tj_status tj_compiler_cache_stats(tj_compiler* compiler, char** json) {
  return guarded([&] {
    (void)required(json, "json");
    const Compiler& known = compiler_of(compiler);
    const Options& options = known.options();
    auto read_only = ordered_json::array();
    for (const auto& path : options.cache_path) read_only.push_back(path.string());
    *json = json_text(
        {{"folder", options.cache_folder ? ordered_json(options.cache_folder->string()) : nullptr},
         {"read_only", std::move(read_only)},
         {"counters", counters_json(known.cache().counters())}});
  });
}

tj_status tj_compiler_cache_path(tj_compiler* compiler, const char* key, char** path) {
  return guarded([&] {
    (void)required(path, "path");
    const cache::Store& store = compiler_of(compiler).cache();
    try {
      *path = copy_text(store.path_of(required_text(key, "key")).string());
    } catch (const std::invalid_argument& error) {
      throw Error(ErrorCode::invalid_argument, error.what(), "key");
    }
  });
}

}  // extern "C"
