// print_tensor for device memory: copies the shown elements, neighbours together.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "interop/tensor_text.hpp"
#include "memory/context_of.hpp"
#include "tilejit/error.hpp"
#include "tilejit/print_tensor.hpp"
#include "tilejit/tensor_view.hpp"

namespace tilejit {
namespace {

// Copying this many unneeded bytes costs less than another copy.
constexpr std::int64_t kLargestGap = 4096;

/// Elements from offset `begin` on, on the host.
struct Piece {
  std::int64_t begin = 0;
  std::vector<std::byte> bytes;
};

std::vector<Piece> make_pieces(const std::vector<std::int64_t>& offsets, std::int64_t element) {
  std::vector<Piece> pieces;
  std::int64_t end = 0;
  for (const std::int64_t offset : offsets) {
    if (pieces.empty() || (offset - end) * element > kLargestGap) pieces.push_back({offset, {}});
    end = offset + 1;
    pieces.back().bytes.resize(static_cast<std::size_t>((end - pieces.back().begin) * element));
  }
  return pieces;
}

void download(const driver::Context& context, Stream stream, std::uint64_t address,
              std::int64_t element, std::vector<Piece>& pieces) {
  const driver::Table& driver = context.driver();
  const driver::ContextScope scope(context);
  for (Piece& piece : pieces) {
    const CUdeviceptr from = address + static_cast<std::uint64_t>(piece.begin * element);
    driver::check(driver,
                  driver.cuMemcpyDtoHAsync_(piece.bytes.data(), from, piece.bytes.size(), stream),
                  "cuMemcpyDtoHAsync");
  }
  driver::synchronize(context, stream);
}

}  // namespace

std::string print_tensor(const Runtime& runtime, Stream stream, DType dtype, const Layout& layout,
                         const void* device_data, const PrintOptions& options) {
  const auto address = reinterpret_cast<std::uintptr_t>(device_data);
  const std::int64_t element = size_bytes(dtype);
  std::vector<Piece> pieces = make_pieces(interop::shown_offsets(layout, options), element);
  if (!pieces.empty()) {
    if (device_data == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  "the tensor to print is a null pointer; pass its memory");
    }
    download(*memory::context_of(runtime), stream, address, element, pieces);
  }
  PrintOptions described = options;
  if (!described.space) described.space = MemorySpace::gmem;
  return interop::tensor_text(dtype, layout, address, described, [&](std::int64_t offset) {
    const auto after = std::ranges::upper_bound(pieces, offset, {}, &Piece::begin);
    const Piece& piece = *std::prev(after);
    return piece.bytes.data() + (offset - piece.begin) * element;
  });
}

std::string print_tensor(const Runtime& runtime, Stream stream, const TensorView& tensor,
                         const PrintOptions& options) {
  if (tensor.has_coordinates()) return print_tensor(tensor, options);
  if (!size(tensor.layout()).is(0)) (void)index_of(tensor, 0);  // throws if symbols have no value
  const Engine engine = tensor.engine();
  PrintOptions described = options;
  if (!described.space && engine.space != MemorySpace::generic) described.space = engine.space;
  if (described.align == 0) described.align = engine.align;
  return print_tensor(runtime, stream, engine.dtype, tensor.layout(), engine.data, described);
}

}  // namespace tilejit
