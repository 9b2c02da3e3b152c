#include <array>
#include <string>
#include <utility>

#include "tilejit/cache/counters.hpp"

namespace tilejit::cache {
namespace {

// Describes one metric; its lines follow.
void describe(std::string& text, const std::string& name, const char* help) {
  text +=
      "# HELP tilejit_cache_" + name + ' ' + help + "\n# TYPE tilejit_cache_" + name + " counter\n";
}

void line(std::string& text, const std::string& name, const std::string& value) {
  text += "tilejit_cache_" + name + ' ' + value + '\n';
}

struct TierMetric {
  const char* name;
  const char* help;
  std::uint64_t TierCounters::*value;
};

constexpr TierMetric kTierMetrics[] = {
    {"hits_total", "Requests that a tier answered.", &TierCounters::hits},
    {"misses_total", "Requests that a tier had no entry for.", &TierCounters::misses},
    {"damaged_total", "Entries found broken, and not served.", &TierCounters::damaged},
    {"failures_total", "Requests that went on without a tier.", &TierCounters::failures}};

struct Metric {
  const char* name;
  const char* help;
  std::uint64_t Counters::*value;
};

constexpr Metric kMetrics[] = {
    {"made_total", "Entries that were made.", &Counters::made},
    {"make_failures_total", "Entries that could not be made.", &Counters::make_failures},
    {"recalled_failures_total", "Requests answered with a failure of a moment ago.",
     &Counters::recalled_failures},
    {"lock_waits_total", "Misses that waited for another process.", &Counters::lock_waits},
    {"lock_timeouts_total", "Misses that gave up waiting.", &Counters::lock_timeouts},
    {"lock_failures_total", "Misses for which there was no lock.", &Counters::lock_failures},
    {"uploads_total", "Entries that the remote has taken.", &Counters::uploads},
    {"uploads_failed_total", "Entries that it has not.", &Counters::uploads_failed},
    {"uploads_dropped_total", "Entries that were not tried.", &Counters::uploads_dropped},
    {"sweeps_total", "Passes that kept the bounds of the folder.", &Counters::sweeps},
    {"evicted_total", "Entries that those passes removed.", &Counters::evicted},
    {"evicted_bytes_total", "Bytes that those passes removed.", &Counters::evicted_bytes}};

}  // namespace

std::string_view to_string(Tier tier) noexcept {
  switch (tier) {
    case Tier::memory: return "memory";
    case Tier::disk: return "disk";
    case Tier::read_only: return "read-only";
    case Tier::remote: return "remote";
    case Tier::made: return "made";
  }
  return "unknown";
}

std::string prometheus_text(const Counters& counters) {
  const std::array<std::pair<std::string, const TierCounters*>, 4> tiers = {
      {{"memory", &counters.memory},
       {"disk", &counters.disk},
       {"read-only", &counters.read_only},
       {"remote", &counters.remote}}};
  std::string text;
  for (const TierMetric& metric : kTierMetrics) {
    describe(text, metric.name, metric.help);
    for (const auto& [tier, of_tier] : tiers) {
      line(text, metric.name + ("{tier=\"" + tier + "\"}"), std::to_string(of_tier->*metric.value));
    }
  }
  describe(text, "seconds_total", "Time spent in a tier; not measured for memory.");
  for (const auto& [tier, of_tier] : tiers) {
    const double seconds = static_cast<double>(of_tier->nanoseconds) * 1e-9;
    line(text, "seconds_total{tier=\"" + tier + "\"}", std::to_string(seconds));
  }
  for (const Metric& metric : kMetrics) {
    describe(text, metric.name, metric.help);
    line(text, metric.name, std::to_string(counters.*metric.value));
  }
  return text;
}

}  // namespace tilejit::cache
