#include "program/kernel_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/json_line.hpp"
#include "device/device.hpp"
#include "operation/zeroing.hpp"
#include "program/check.hpp"
#include "program/distribute.hpp"
#include "program/kernel_writer.hpp"
#include "program/pipelines.hpp"
#include "program/shared_layout.hpp"
#include "program/tl_writer.hpp"
#include "tilejit/error.hpp"

namespace tilejit::program {
namespace {

using operation::append_field;
using operation::LaunchShape;
using operation::Param;

constexpr std::size_t kMostText = 512 << 10;  // bytes of CUDA
constexpr std::int64_t kReserved = 1024;  // bytes of shared memory that a block has for the system

int threads_of(const Code& code) {
  std::int64_t threads = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& number = code.shape.numbers[LaunchShape::block + i];
    if (!number.is_known()) {
      throw Error(ErrorCode::unsupported,
                  "the block has '" + number.text() +
                      "' threads, which depends on symbols; tiles are spread over threads when the "
                      "kernel is made: give Block integers or constants",
                  "/launch/block/" + std::to_string(i));
    }
    threads *= number.evaluate();
  }
  return static_cast<int>(threads);
}

std::vector<Param> params_of(const KernelPlan& plan) {
  std::vector<Param> params;
  for (std::size_t i = 0; i < plan.signature.tensors.size(); ++i) {
    append_field(params, {.kind = Param::Kind::pointer,
                          .index = static_cast<int>(i),
                          .dtype = plan.signature.tensors[i].dtype,
                          .name = "t" + std::to_string(i)});
  }
  for (std::size_t i = 0; i < plan.signature.scalars.size(); ++i) {
    const DType dtype = plan.signature.scalars[i].dtype;
    append_field(params, {.kind = Param::Kind::scalar,
                          .index = static_cast<int>(i),
                          .dtype = dtype,
                          .name = "s" + std::to_string(i),
                          .size = operation::scalar_bytes(dtype)});
  }
  for (std::size_t i = 0; i < plan.code.symbols.size(); ++i) {
    append_field(params, {.kind = Param::Kind::dim,
                          .dim = Dim(std::string_view(plan.code.symbols[i])),
                          .name = "d" + std::to_string(i)});
  }
  return params;
}

std::vector<std::optional<SharedPlace>> places_of(const KernelPlan& plan) {
  std::map<int, int> buffers;
  if (plan.target.major >= 8) {
    for (const auto& [load, stages] : copies_ahead(plan.code)) {
      buffers[load->tile] = std::max(buffers[load->tile], stages);
    }
  }
  std::vector<std::optional<SharedPlace>> places(plan.code.tiles.size());
  std::int64_t end = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const TileSlot& tile = plan.code.tiles[i];
    if (tile.space != TileSpace::shared) continue;
    SharedPlace place{.offset = end, .layout = tile.layout.value_or(shared_layout(tile.type))};
    if (const auto found = buffers.find(static_cast<int>(i)); found != buffers.end()) {
      place.buffers = found->second;
    }
    const std::int64_t size = size_bytes(tile.type.dtype);
    const std::int64_t most = cosize(place.layout.layout()) + place.layout.offset();
    // Buffers begin at whole repeats of a swizzle.
    const Swizzle& swizzle = place.layout.swizzle();
    const std::int64_t repeat = std::max<std::int64_t>(
        128 / size,
        std::int64_t{1} << (swizzle.base() + swizzle.bits() + std::abs(swizzle.shift())));
    place.elements = (most + repeat - 1) / repeat * repeat;
    place.bytes = place.elements * place.buffers * size;
    end += (place.bytes + 127) / 128 * 128;
    places[i] = std::move(place);
  }
  return places;
}

/// Texts of a key have no escapes, so a backquote and two hexadecimal digits stand for a quote, a
/// backslash, a backquote, and what is not printable.
std::string plain(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '`' || byte < 0x20 || byte > 0x7e) {
      ((made += '`') += kDigits[byte / 16]) += kDigits[byte % 16];
    } else {
      made += c;
    }
  }
  return made;
}

void check_shared(const KernelPlan& plan) {
  const std::int64_t most = device::device_of(plan.target).shared_bytes - kReserved;
  if (plan.shared_bytes <= most) return;
  throw Error(ErrorCode::unsupported,
              "program '" + plan.program->name + "' needs " + std::to_string(plan.shared_bytes) +
                  " bytes of shared memory for its tiles and for exchanges between threads, and a "
                  "block of " +
                  to_string(plan.target) + " has " + std::to_string(most) +
                  "; use smaller tiles, or fewer stages",
              "/body");
}

void check_text(const KernelPlan& plan) {
  if (plan.text.size() <= kMostText) return;
  throw Error(ErrorCode::unsupported,
              "the kernel of program '" + plan.program->name + "' would be " +
                  std::to_string(plan.text.size() >> 10) +
                  " KiB of CUDA, which takes the compiler more than seconds; use loops, or several "
                  "programs",
              "/body");
}

void check_cluster(const KernelPlan& plan) {
  if (plan.code.shape.cluster <= 1 || plan.target.major >= 9) return;
  throw Error(ErrorCode::unsupported,
              to_string(plan.target) + " has no clusters; leave out \"cluster\"",
              "/launch/cluster");
}

}  // namespace

KernelPlan make_plan(std::shared_ptr<const TileProgram> program, const Tuning& tuning,
                     const Target& target) {
  KernelPlan plan{.program = std::move(program), .tuning = tuning, .target = target};
  plan.code = check(*plan.program, tuning);
  plan.entry = "tilejit_" + plan.program->name;
  plan.threads = threads_of(plan.code);
  check_cluster(plan);
  plan.signature = {.tensors = plan.program->tensors,
                    .scalars = plan.program->scalars,
                    .symbols = plan.code.divisors};
  for (std::size_t i = 0; i < plan.signature.tensors.size(); ++i) {
    plan.signature.tensors[i].access = plan.code.access[i];
  }
  plan.params = params_of(plan);
  plan.params_bytes = operation::struct_bytes(plan.params);
  plan.distributions = distribute(plan.code, plan.signature.tensors, plan.threads,
                                  warp_products(plan.code, target, plan.threads));
  plan.places = places_of(plan);
  KernelWriter(plan).write();
  check_shared(plan);
  check_text(plan);
  return plan;
}

std::string to_json(const KernelPlan& plan) {
  core::JsonLine line;
  line.open('{').member("template", "program").member("entry", plan.entry);
  line.key("constants").open('{');
  for (const TileConstant& constant : chosen_constants(*plan.program, plan.tuning)) {
    line.member(constant.name, to_string(constant.value));
  }
  line.close('}').key("program").open('[');
  const std::string text = tl_text(*plan.program, TextOf::kernel);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    line.value(plain(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  line.close(']');
  if (!plan.assertions.empty()) {
    // Their lines depend on the text as it was written.
    line.key("assertions").open('[');
    for (const operation::Assertion& assertion : plan.assertions) line.value(assertion.place);
    line.close(']');
  }
  return line.close('}').take();
}

operation::LaunchPlan launch_plan(const KernelPlan& plan) {
  operation::LaunchPlan launch;
  for (const std::string& name : plan.program->zeroed) {
    const auto found = std::ranges::find(plan.signature.tensors, name, &Tensor::name);
    launch.steps.push_back(
        operation::zero_step(plan.entry + "_zero_" + name, *found,
                             static_cast<int>(found - plan.signature.tensors.begin())));
  }
  LaunchShape shape = plan.code.shape;
  shape.numbers[LaunchShape::shared] = plan.shared_bytes;
  launch.steps.push_back({.entry = plan.entry,
                          .shape = shape,
                          .threads = plan.threads,
                          .cluster = shape.cluster,
                          .sets_cluster = shape.cluster > 1,
                          .shared_bytes = static_cast<int>(plan.shared_bytes),
                          .params = plan.params,
                          .params_bytes = plan.params_bytes,
                          .positional = plan.params.empty()});
  if (!plan.assertions.empty()) launch.assertion_words = plan.assertion_words();
  launch.assertions = plan.assertions;
  // No two tensors count as equal element by element: blocks may read what others write.
  launch.extents = {2};
  for (std::size_t i = 0; i < plan.signature.tensors.size(); ++i) {
    launch.elements.push_back({{Mode{static_cast<std::int64_t>(i), 1}}});
  }
  return launch;
}

}  // namespace tilejit::program
