// Options as JSON.
#include <gtest/gtest.h>

#include <string>

#include "capi/parse.hpp"
#include "fake/expect_error.hpp"
#include "tilejit/options.hpp"

namespace tilejit::capi {
namespace {

using std::chrono::milliseconds;

/// An option with a value that differs from the default.
struct Row {
  const char* json;
  bool (*is_set)(const Options&);
};

const Row kRows[] = {
    {R"({"cache_folder": "/f"})", [](const Options& o) { return o.cache_folder == "/f"; }},
    {R"({"cache_folder": null})", [](const Options& o) { return !o.cache_folder; }},
    {R"({"cache_path": ["/a", "/b"]})",
     [](const Options& o) {
       return o.cache_path == std::vector<std::filesystem::path>{"/a", "/b"};
     }},
    {R"({"cache_copy_after_ms": 7})",
     [](const Options& o) { return o.cache_copy_after == milliseconds(7); }},
    {R"({"cache_bundle_key": "/k"})", [](const Options& o) { return o.cache_bundle_key == "/k"; }},
    {R"({"cache_trust_anyone": true})", [](const Options& o) { return o.cache_trust_anyone; }},
    {R"({"cache_remote": "http://h/p"})",
     [](const Options& o) { return o.cache_remote.url == "http://h/p"; }},
    {R"({"cache_remote_mode": "must-hit"})",
     [](const Options& o) { return o.cache_remote.mode == cache::RemoteMode::must_hit; }},
    {R"({"cache_memory_bytes": 5})", [](const Options& o) { return o.cache_memory_bytes == 5; }},
    {R"({"cache_max_bytes": 6})", [](const Options& o) { return o.cache_max_bytes == 6; }},
    {R"({"cache_max_age_seconds": 8})",
     [](const Options& o) { return o.cache_max_age == std::chrono::seconds(8); }},
    {R"({"cache_keep": ["ptx"]})", [](const Options& o) { return o.cache_keep.ptx; }},
    {R"({"tuning_file": "/t"})", [](const Options& o) { return o.tuning_file == "/t"; }},
    {R"({"nvrtc_path": "/n"})", [](const Options& o) { return o.nvrtc_path == "/n"; }},
    {R"({"line_info": true})", [](const Options& o) { return o.line_info; }},
    {R"({"compile_effort": "quick"})",
     [](const Options& o) { return o.compile_effort == CompileEffort::quick; }},
    {R"({"compile_effort": "tiered"})",
     [](const Options& o) { return o.compile_effort == CompileEffort::tiered; }},
    {R"({"deterministic": true})", [](const Options& o) { return o.deterministic; }},
    {R"({"compile_jobs": 3})", [](const Options& o) { return o.compile_jobs == 3; }},
    {R"({"compile_threads": 0})", [](const Options& o) { return o.compile_threads == 0; }},
    {R"({"compile_queue": 11})", [](const Options& o) { return o.compile_queue == 11; }},
    {R"({"worker_path": "/w"})", [](const Options& o) { return o.worker_path == "/w"; }},
    {R"({"worker_timeout_ms": 1500})",
     [](const Options& o) { return o.worker_timeout == milliseconds(1500); }},
    {R"({"worker_memory_bytes": 9})", [](const Options& o) { return o.worker_memory_bytes == 9; }},
    {R"({"miss_policy": "fallback"})",
     [](const Options& o) { return o.miss_policy == MissPolicy::fallback; }},
    {R"({"compile_in_capture": false})", [](const Options& o) { return !o.compile_in_capture; }},
    {R"({"record": "/r"})", [](const Options& o) { return o.record == "/r"; }},
    {R"({"slow_compile_ms": 12})",
     [](const Options& o) { return o.slow_compile == milliseconds(12); }},
    {R"({"device": 2})", [](const Options& o) { return o.device == 2; }},
};

TEST(OptionsOfJson, AreSetOneByOne) {
  const Options unset = Options::from_env();
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.json);
    EXPECT_TRUE(row.is_set(parse_options(row.json)));
    const bool is_null = std::string(row.json).find("null") != std::string::npos;
    EXPECT_TRUE(is_null || !row.is_set(unset));
  }
}

TEST(OptionsOfJson, AreRefusedByName) {
  const char* const kBad[][2] = {
      {R"({"compile_effort": "fast"})", "compile_effort takes full, quick or tiered"},
      {R"({"compile_effort": 1})", "compile_effort takes a text"},
      {R"({"miss_policy": "never"})", "miss_policy takes allow, warn, error or fallback"},
      {R"({"compile_jobs": -1})", "compile_jobs takes an integer from 0 to 4096"},
      {R"({"deterministic": 1})", "deterministic takes true or false"},
      {R"({"worker_timeout_ms": "60s"})", "worker_timeout_ms takes an integer"},
      {R"({"worker_timeout": 60})", "there is no option 'worker_timeout'"},
  };
  for (const auto& [json, text] : kBad) {
    expect_error(ErrorCode::invalid_argument, text, [text = json] { (void)parse_options(text); });
  }
}

}  // namespace
}  // namespace tilejit::capi
