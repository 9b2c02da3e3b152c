#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/npy.hpp"
#include "tilejit/kernel.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::cli {

/// The values of "name=value" options, by name.
using Assignments = std::map<std::string, std::string, std::less<>>;
/// Arrays given for tensors, by the tensor's name.
using Arrays = std::map<std::string, NpyArray, std::less<>>;

/// Parses "M=4096,N=8" and the like. Messages name `option`. Throws UsageError for a part without a
/// name or value, and for a name given twice.
[[nodiscard]] Assignments parse_assignments(const std::vector<std::string>& parts,
                                            const std::string& option);
/// The kind of thing that an assignment names.
enum class Named { symbol, scalar, tensor };
/// Throws UsageError for a name that none of `ops` has.
void check_names(const Assignments& given, const std::vector<Operation>& ops, Named what);
/// Parses a whole decimal number, not negative. Throws UsageError, which names `what`.
[[nodiscard]] std::int64_t parse_count(const std::string& text, const std::string& what);

/// A value for every symbol of `op`: from `dims`, else from the arrays' shapes, else the example of
/// the spec. Throws UsageError if a symbol has no value, or a value that breaks its promised
/// divisor.
[[nodiscard]] SymbolValues bind_symbols(const Operation& op, const Assignments& dims,
                                        const Arrays& arrays);

/// A value for every scalar: from `values`, else the example of the spec, else 1. Integers and bool
/// become integers; other values are rounded to their dtype. Throws UsageError for text that is not
/// a number, and for a number outside the dtype's range; infinity is outside the range of the f8
/// types.
[[nodiscard]] std::vector<Argument> bind_scalars(const Operation& op, const Assignments& values);

/// Throws UsageError if the array's dtype or shape differs from that of `tensor`, laid out as
/// `layout`.
void check_array(const NpyArray& array, const Tensor& tensor, const Layout& layout);

}  // namespace tilejit::cli
