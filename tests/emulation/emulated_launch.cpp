#include "emulation/emulated_launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>

#include "emulation/hopper/tensor_map.hpp"
#include "launch/scalar_argument.hpp"
#include "operation/fast_divisor.hpp"
#include "support/source_dir.hpp"

namespace tilejit::test {
namespace {

using operation::Param;

constexpr std::align_val_t kAlign{64};

std::int64_t units_of(const operation::GridRule& grid, const SymbolValues& symbols) {
  std::int64_t units = 1;
  for (const auto& count : grid.units) {
    units *= (count.extent.evaluate(symbols) + count.per - 1) / count.per;
  }
  return units;
}

/// As launch/tensor_map_encoder.cpp has the driver encode it.
emulation::TensorMap encode(const operation::TensorMap& map, std::byte* address,
                            const SymbolValues& symbols) {
  emulation::TensorMap encoded{.address = reinterpret_cast<unsigned char*>(address)};
  const int bytes = size_bytes(map.dtype);
  EXPECT_EQ(operation::fault_of(map), "");
  EXPECT_EQ(map.fill, operation::TensorMap::Fill::zeros) << "not emulated";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % 16, 0u);
  for (std::size_t i = 0; i < map.modes.size(); ++i) {
    const auto& mode = map.modes[i];
    encoded.extents[i] = mode.extent.evaluate(symbols);
    encoded.strides[i] = i == 0 ? bytes : mode.stride.evaluate(symbols) * bytes;
    encoded.boxes[i] = static_cast<std::uint16_t>(mode.box);
    EXPECT_EQ(mode.step, 1) << "not emulated";
    EXPECT_GE(encoded.extents[i], 1);
    const bool matters = i != 0 && encoded.extents[i] != 1;
    EXPECT_TRUE(!matters || operation::is_stride(encoded.strides[i] / bytes, bytes));
  }
  encoded.modes = static_cast<std::uint8_t>(map.modes.size());
  encoded.element_bytes = static_cast<std::uint8_t>(bytes);
  encoded.to_tf32 = map.dtype == tf32;
  encoded.swizzle_bytes = static_cast<std::uint8_t>(operation::swizzle_bytes(map.swizzle));
  const int row = map.modes[0].box * bytes;
  EXPECT_TRUE(encoded.swizzle_bytes == 0 || encoded.swizzle_bytes == row) << "not emulated";
  return encoded;
}

/// Blocks of a launch, of which a kernel that takes one unit after another gets few.
unsigned blocks_of(const operation::Step& step, const SymbolValues& symbols, unsigned seed) {
  const operation::GridRule& grid = step.grid;
  const std::int64_t units = units_of(grid, symbols), per = grid.units_per_block;
  const std::int64_t blocks = (units + per - 1) / per * grid.blocks_per_unit;
  const std::int64_t resident = std::int64_t{2 + seed} * step.cluster;
  return static_cast<unsigned>(grid.resident ? std::min(blocks, resident) : blocks);
}

}  // namespace

std::unique_ptr<const HostLibrary> compile_emulated(const std::string& text) {
  std::string whole;
  for (const char* header : {"ptx.hpp", "warp_product.hpp", "hopper/warpgroup_product.hpp"}) {
    whole += "#include \"" + source_dir().string() + "/tests/emulation/" + header + "\"\n";
  }
  whole +=
      "extern \"C\" const char* take_printed() {\n  static std::string taken;\n"
      "  taken = std::exchange(emulation::printed, {});\n  return taken.c_str();\n}\n";
  whole += text;
  if (const char* const kept = std::getenv("TILEJIT_KEEP_EMULATED")) std::ofstream(kept) << whole;
  try {
    return std::make_unique<const HostLibrary>(whole, "-std=c++20 -U_FORTIFY_SOURCE -Wno-psabi");
  } catch (const std::exception& error) {
    ADD_FAILURE() << std::string(error.what()).substr(0, 200);
    return nullptr;
  }
}

std::string exported(const std::string& name, const std::string& space, const std::string& entry) {
  return "extern \"C\" const char* " + name +
         "(const void* params, const emulation::Shape& shape) {\n  using namespace " + space +
         ";\n  return emulation::try_launch(" + entry + ", params, shape);\n}\n";
}

PackedParams::PackedParams(const operation::Step& step, const EmulatedArguments& arguments,
                           const std::vector<std::byte*>& workspaces)
    : bytes_(new (kAlign) std::byte[static_cast<std::size_t>(step.params_bytes) + 1]()) {
  const auto put = [&](const Param& param, const auto& value) {
    ASSERT_EQ(sizeof value, static_cast<std::size_t>(param.size));
    std::memcpy(bytes_.get() + param.offset, &value, sizeof value);
  };
  using Kind = Param::Kind;
  for (const Param& param : step.params) {
    const auto index = static_cast<std::size_t>(param.index);
    switch (param.kind) {
      case Kind::pointer: put(param, arguments.tensors[index]); break;
      case Kind::total: put(param, units_of(step.grid, arguments.symbols)); break;
      case Kind::dim: put(param, param.dim.evaluate(arguments.symbols)); break;
      case Kind::divisor: {
        const std::int64_t dim = param.dim.evaluate(arguments.symbols);
        // Rows without elements divide nothing (launch/binder_sizes.cpp).
        const std::int64_t units = dim / param.per + (dim % param.per != 0);
        put(param, operation::make_divisor(std::max<std::int64_t>(1, units)));
        break;
      }
      case Kind::workspace: put(param, workspaces[index]); break;
      case Kind::tensor_map: {
        const bool is_tensor = param.map.base == operation::TensorMap::Base::tensor;
        std::byte* const address =
            is_tensor ? static_cast<std::byte*>(arguments.tensors[index]) : workspaces[index];
        put(param, encode(param.map, address, arguments.symbols));
        break;
      }
      case Kind::scalar:
        EXPECT_TRUE(launch::try_store_scalar(param.dtype, arguments.scalars[index],
                                             bytes_.get() + param.offset));
        break;
    }
  }
}

void PackedParams::Free::operator()(std::byte* bytes) const noexcept {
  ::operator delete[](bytes, kAlign);
}

EmulatedWorkspaces::EmulatedWorkspaces(const operation::LaunchPlan& plan,
                                       const SymbolValues& symbols) {
  for (const operation::Workspace& workspace : plan.workspaces) {
    const auto bytes = static_cast<std::size_t>(workspace.bytes.evaluate(symbols));
    memory_.emplace_back(bytes, workspace.zeroed ? std::byte{0} : std::byte{0xff});
  }
}

std::vector<std::byte*> EmulatedWorkspaces::addresses() {
  std::vector<std::byte*> all;
  for (auto& bytes : memory_) all.push_back(bytes.data());
  return all;
}

emulation::Shape shape_of(const operation::Step& step, const SymbolValues& symbols, unsigned seed) {
  emulation::Shape shape{.grid = {},
                         .block = {},
                         .cluster = static_cast<std::size_t>(step.cluster),
                         .shared_bytes = static_cast<std::size_t>(step.shared_bytes),
                         .seed = seed};
  if (!step.shape) {
    shape.grid = {blocks_of(step, symbols, seed), 1, 1};
    shape.block = {static_cast<unsigned>(step.threads), 1, 1};
    return shape;
  }
  std::array<unsigned, operation::LaunchShape::kCount> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::vector<std::int64_t> values;
    for (const std::string& name : step.shape->numbers[i].names())
      values.push_back(symbols.at(name));
    numbers[i] = static_cast<unsigned>(step.shape->numbers[i].evaluate(values));
  }
  shape.grid = {numbers[0], numbers[1], numbers[2]};
  shape.block = {numbers[3], numbers[4], numbers[5]};
  shape.shared_bytes = numbers[6];
  return shape;
}

std::string run_emulated(const HostLibrary& library, const std::string& name, const void* params,
                         const emulation::Shape& shape) {
  if (shape.grid.x * shape.grid.y * shape.grid.z == 0) return "";
  const auto entry = library.find<const char*(const void*, const emulation::Shape&)>(name);
  return entry == nullptr ? "there is no " + name : entry(params, shape);
}

}  // namespace tilejit::test
