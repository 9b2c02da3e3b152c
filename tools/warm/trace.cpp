#include "warm/trace.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

std::string dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json event(const std::string& name, const char* category, double begin, double duration,
                   std::size_t lane) {
  return {{"name", name},    {"cat", category}, {"ph", "X"},  {"ts", begin},
          {"dur", duration}, {"pid", 1},        {"tid", lane}};
}

}  // namespace

double Trace::microseconds(Clock::time_point time) const {
  return std::chrono::duration<double, std::micro>(time - start_).count();
}

void Trace::add_event(const Span& span, const std::string& details) {
  const double begin = microseconds(span.begin);
  ordered_json json = event(span.name, "kernel", begin, microseconds(span.end) - begin, span.lane);
  json["args"] = ordered_json::parse(details);
  events_.push_back(dump(json));
}

void Trace::add(const Span& span, const Artifact& artifact) {
  add_event(span, dump({{"key", artifact.key},
                        {"tier", to_string(artifact.tier)},
                        {"cubin_bytes", artifact.cubin->size()}}));
  double begin = microseconds(span.begin);
  const StepTimes& times = artifact.times;
  const std::array<std::pair<const char*, double>, 5> steps = {{{"key", times.key},
                                                                {"lookup", times.lookup},
                                                                {"render", times.render},
                                                                {"nvrtc", times.nvrtc},
                                                                {"publish", times.publish}}};
  for (const auto& [name, milliseconds] : steps) {
    if (milliseconds <= 0) continue;
    events_.push_back(dump(event(name, "step", begin, milliseconds * 1e3, span.lane)));
    begin += milliseconds * 1e3;
  }
}

void Trace::add_failed(const Span& span, const std::string& error) {
  add_event(span, dump({{"error", error}}));
}

std::string Trace::to_json() const {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  for (std::size_t i = 0; i < events_.size(); ++i) text += (i == 0 ? "\n" : ",\n") + events_[i];
  return text + "\n]}\n";
}

}  // namespace tilejit::cli
