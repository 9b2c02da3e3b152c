#include <span>
#include <string>

#include "capi/arguments.hpp"
#include "capi/guard.hpp"
#include "capi/parse.hpp"
#include "tilejit/reference.hpp"

using namespace tilejit;
using namespace tilejit::capi;

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "'" + name + "' " + why, "/" + name);
}

bool is_memory(const Argument& given) noexcept {
  return given.kind == Argument::Kind::pointer || given.kind == Argument::Kind::tensor;
}

/// The memory of a tensor. If a shape is given, it is checked.
void* memory_of(const Tensor& tensor, const Argument& given, const SymbolValues& symbols) {
  if (!is_memory(given)) refuse(tensor.name, "is a number; pass its memory");
  auto* const memory = reinterpret_cast<void*>(given.address);
  const Layout layout = substitute(tensor.layout, symbols);
  if (memory == nullptr && cosize(layout) > 0) refuse(tensor.name, "is NULL; pass its memory");
  if (given.kind == Argument::Kind::pointer) return memory;
  const bool same_storage =
      given.dtype == tensor.dtype || (tensor.dtype == tf32 && given.dtype == f32);
  if (!same_storage) {
    refuse(tensor.name, "has dtype " + std::string(to_string(given.dtype)) +
                            "; the descriptor wants " + std::string(to_string(tensor.dtype)));
  }
  const auto leaves = layout.leaves();
  bool same = given.shape.size() == leaves.size() || (given.shape.empty() && size(layout).is(1));
  for (std::size_t i = 0; same && i < given.shape.size(); ++i) {
    same = leaves[i].extent.is(given.shape[i]) &&
           (given.shape[i] <= 1 || leaves[i].stride.is(given.stride[i]));
  }
  if (!same) refuse(tensor.name, "has another shape or stride than " + to_string(layout));
  return memory;
}

Number value_of(const Scalar& scalar, const Argument& given) {
  if (is_memory(given)) refuse(scalar.name, "is memory; pass a number");
  return given.number();
}

HostArguments host_arguments(const Operation& op, std::span<const Argument> given,
                             SymbolValues symbols) {
  const std::size_t wanted = op.tensors().size() + op.scalars().size();
  if (given.size() != wanted) {
    throw Error(ErrorCode::invalid_argument, "the kernel takes " + std::to_string(wanted) +
                                                 " arguments, tensors, then scalars; not " +
                                                 std::to_string(given.size()));
  }
  HostArguments host;
  for (std::size_t i = 0; i < op.tensors().size(); ++i) {
    host.tensors.push_back(memory_of(op.tensors()[i], given[i], symbols));
  }
  for (std::size_t i = 0; i < op.scalars().size(); ++i) {
    host.scalars.push_back(value_of(op.scalars()[i], given[op.tensors().size() + i]));
  }
  host.symbols = std::move(symbols);
  return host;
}

}  // namespace

extern "C" tj_status tj_evaluate(const char* spec, const tj_argument* arguments,
                                 size_t argument_count, const tj_symbol* symbols,
                                 size_t symbol_count) {
  return guarded([&] {
    const Operation op = parse_spec(spec, Options::from_env());
    const Arguments converted(arguments, argument_count);
    evaluate(op, host_arguments(op, converted.get(), symbol_values(symbols, symbol_count)));
  });
}
