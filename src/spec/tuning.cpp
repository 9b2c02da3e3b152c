#include "spec/tuning.hpp"

#include <algorithm>
#include <bit>

#include "core/text.hpp"
#include "spec/object_reader.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::spec {
namespace {

/// A tuning field that holds a whole number, and its allowed values.
struct Knob {
  const char* name;
  std::optional<int> Tuning::*value;
  int least, most;
  int multiple;  ///< 0: powers of two
  const char* allowed;
};

constexpr int kMaxTileSide = 4096;
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxValues = 1024;

constexpr Knob kKnobs[] = {
    {"threads", &Tuning::threads, 32, 1024, 32, "a multiple of 32 from 32 to 1024"},
    {"vector", &Tuning::vector, 1, 16, 0, "1, 2, 4, 8 or 16"},
    {"unroll", &Tuning::unroll, 1, 16, 1, "1 to 16"},
    {"row_threads", &Tuning::row_threads, 1, 1024, 0, "a power of two from 1 to 1024"},
    {"cluster", &Tuning::cluster, 1, 8, 0, "1, 2, 4 or 8"},
    {"splits", &Tuning::splits, 1, 8192, 1, "1 to 8192"},
    {"register_vectors", &Tuning::register_vectors, 0, 64, 1, "0 to 64"},
};

bool is_power_of_two(int value) noexcept {
  return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
}

bool is_allowed(const Knob& knob, int value) noexcept {
  if (value < knob.least || value > knob.most) return false;
  return knob.multiple == 0 ? is_power_of_two(value) : value % knob.multiple == 0;
}

}  // namespace

Tuning read_tuning(const Json& json, const std::string& where, Problems& problems) {
  ObjectReader object(json, where, problems);
  object.refuse_others({"threads", "vector", "unroll", "tile", "row_threads", "cluster", "splits",
                        "register_vectors", "atomics", "constants"});
  Tuning tuning;
  tuning.atomics = object.boolean("atomics");
  for (const Knob& knob : kKnobs) {
    const auto value = object.integer(knob.name);
    if (value) {
      tuning.*knob.value = static_cast<int>(std::clamp<std::int64_t>(*value, -1, 1 << 20));
    }
  }
  object.members(
      "constants", [&](const std::string& name, const Json& value, const std::string& place) {
        if (value.is_structured() || value.is_null()) {
          problems.add(ErrorCode::invalid_spec, "expected a number or a text", place);
        } else {
          tuning.constants[name] = value.is_string() ? value.get<std::string>() : value.dump();
        }
      });
  const Json* const tile = object.find("tile");
  if (tile == nullptr) return tuning;
  const auto is_side = [](const Json& side) {
    return side.is_number_integer() && side >= 1 && side <= kMaxTileSide;
  };
  if (!tile->is_array() || tile->size() != 2 || !std::ranges::all_of(*tile, is_side)) {
    object.wrong("tile",
                 "two numbers from 1 to 4096, powers of two or multiples of 8, as in [64, 128]");
    return tuning;
  }
  tuning.tile = {(*tile)[0].get<int>(), (*tile)[1].get<int>()};
  return tuning;
}

ThreadValueLayouts read_tv(const Json& json, const std::string& where, Problems& problems) {
  ObjectReader object(json, where, problems);
  object.refuse_others({"thr", "val"});
  const auto read = [&](std::string_view key, std::string_view example) -> Layout {
    if (object.find(key) == nullptr) object.missing(key, example);
    const auto text = object.text(key);
    if (!text) return {};
    try {
      return parse_layout(*text);
    } catch (const Error& error) {
      problems.add(error, object.at(key));
      return {};
    }
  };
  Layout thr = read("thr", "\"(4,64):(64,1)\"");
  return {.thr = std::move(thr), .val = read("val", "\"(16,8):(8,1)\"")};
}

Json tuning_json(const Tuning& tuning) {
  Json json = Json::object();
  for (const Knob& knob : kKnobs) {
    if (const auto& value = tuning.*knob.value) json[knob.name] = *value;
  }
  if (tuning.tile) json["tile"] = *tuning.tile;
  if (tuning.atomics) json["atomics"] = *tuning.atomics;
  for (const auto& [name, value] : tuning.constants) json["constants"][name] = value;
  return json;
}

namespace {

/// The size, if it is in 1..most; otherwise 0.
std::int64_t count_of(const Layout& layout, std::int64_t most) {
  try {
    const Dim count = size(layout);
    return count.is_known() && count.value() <= most ? count.value() : 0;
  } catch (const Error&) {
    return 0;  // beyond 2^63-1
  }
}

void check_tv(const Tuning& tuning, Problems& problems) {
  const ThreadValueLayouts& tv = *tuning.tv;
  const std::int64_t threads = count_of(tv.thr, kMaxThreads);
  if (threads == 0 || threads % 32 != 0) {
    problems.add(ErrorCode::invalid_spec,
                 "tv.thr " + core::shortened(to_string(tv.thr)) +
                     " does not have a multiple of 32 threads from 32 to 1024; change its shape",
                 "/tv/thr");
  }
  const std::int64_t values = count_of(tv.val, kMaxValues);
  if (values == 0) {
    problems.add(ErrorCode::invalid_spec,
                 "tv.val " + core::shortened(to_string(tv.val)) +
                     " does not have 1 to 1024 values a thread; change its shape",
                 "/tv/val");
  }
  if (threads != 0 && values != 0) {
    try {
      (void)make_layout_tv(tv.thr, tv.val);
    } catch (const Error& error) {
      problems.add(error, "/tv");
    }
  }
  const Tuning also{.vector = tuning.vector, .unroll = tuning.unroll, .tv = tuning.tv};
  if (also != tuning) {
    problems.add(ErrorCode::invalid_spec,
                 "beside tv only vector and unroll can be pinned; remove the other knobs",
                 "/tuning");
  }
}

}  // namespace

void check_tuning(const Tuning& tuning, Problems& problems) {
  if (tuning.tv) check_tv(tuning, problems);
  const auto refuse = [&](const char* name, int value, const char* allowed) {
    problems.add(
        ErrorCode::invalid_spec,
        std::string("tuning.") + name + " is " + std::to_string(value) + "; use " + allowed,
        std::string("/tuning/") + name);
  };
  for (const Knob& knob : kKnobs) {
    const auto& value = tuning.*knob.value;
    if (value && !is_allowed(knob, *value)) refuse(knob.name, *value, knob.allowed);
  }
  if (!tuning.tile) return;
  for (const int side : *tuning.tile) {
    if ((!is_power_of_two(side) && side % 8 != 0) || side > kMaxTileSide) {
      refuse("tile", side, "powers of two or multiples of 8, from 1 to 4096");
    }
  }
}

}  // namespace tilejit::spec
