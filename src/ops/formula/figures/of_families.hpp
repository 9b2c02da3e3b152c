#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "figures/figures.hpp"

namespace tilejit::figures {

// What figures ask of each family, in its folder. A family that derives from plan::Rows has what
// rows have, unless it says its own.

/// Why the plan has its family; the first sentence follows the name of the template.
using Sentences = std::vector<std::string>;
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Map& map);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Tile& tile);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Sheared& sheared);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Box& box);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Rows& rows);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::StagedRows& staged);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Strips& strips);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Scan& scan);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Light& light);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::ThreadValue& tv);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::MatmulMma& product);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::MatmulSimt& product);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::MatmulWgmma& product);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::AttentionWgmma& attention);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::AttentionMma& attention);
[[nodiscard]] Sentences why(const plan::Plan& plan, const plan::Several& several);

/// The layout of a block's unit.
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::Map& map);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::Tile& tile);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::Box& box);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::Rows& rows);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::StagedRows& staged);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::Scan& scan);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::Light& light);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::ThreadValue& tv);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::Matmul& product);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::MatmulWgmma& product);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::AttentionWgmma& attention);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::AttentionMma& attention);
[[nodiscard]] ThreadValues values_of(const plan::Plan& plan, const plan::Several& several);

/// The layout in which a block loads or stores an operand that crosses shared memory.
[[nodiscard]] ThreadValues transposed_values(const plan::Plan& plan, const plan::Tile& tile,
                                             const plan::Operand& operand);
[[nodiscard]] ThreadValues transposed_values(const plan::Plan& plan, const plan::Sheared& sheared,
                                             const plan::Operand& operand);
[[nodiscard]] ThreadValues transposed_values(const plan::Plan& plan, const plan::Box& box,
                                             const plan::Operand& operand);

/// The modes of the space that each mode of the unit's tile goes through.
using ModesOfTile = std::vector<std::vector<std::size_t>>;
[[nodiscard]] ModesOfTile modes_of_tile(const plan::Plan& plan, const plan::Map& map);
[[nodiscard]] ModesOfTile modes_of_tile(const plan::Plan& plan, const plan::Tile& tile);
[[nodiscard]] ModesOfTile modes_of_tile(const plan::Plan& plan, const plan::Box& box);
[[nodiscard]] ModesOfTile modes_of_tile(const plan::Plan& plan, const plan::Rows& rows);
[[nodiscard]] ModesOfTile modes_of_tile(const plan::Plan& plan, const plan::ThreadValue& tv);
[[nodiscard]] ModesOfTile modes_of_tile(const plan::Plan& plan, const plan::Matmul& product);
[[nodiscard]] ModesOfTile modes_of_tile(const plan::Plan& plan, const plan::Several& several);

/// Vectors of an input that a thread loads before it waits for the first.
[[nodiscard]] int vectors_ahead(const plan::Plan& plan, const plan::Map& map,
                                const plan::Operand& operand);
[[nodiscard]] int vectors_ahead(const plan::Plan& plan, const plan::Tile& tile,
                                const plan::Operand& operand);
[[nodiscard]] int vectors_ahead(const plan::Plan& plan, const plan::Sheared& sheared,
                                const plan::Operand& operand);
[[nodiscard]] int vectors_ahead(const plan::Plan& plan, const plan::Box& box,
                                const plan::Operand& operand);
[[nodiscard]] int vectors_ahead(const plan::Plan& plan, const plan::Rows& rows,
                                const plan::Operand& operand);
[[nodiscard]] int vectors_ahead(const plan::Plan& plan, const plan::ThreadValue& tv,
                                const plan::Operand& operand);
[[nodiscard]] int vectors_ahead(const plan::Plan& plan, const plan::Matmul& product,
                                const plan::Operand& operand);
[[nodiscard]] int vectors_ahead(const plan::Plan& plan, const plan::Several& several,
                                const plan::Operand& operand);

/// Shared memory that the kernel declares or asks for, in bytes.
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::Map& map);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::Tile& tile);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::Sheared& sheared);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::Box& box);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::Rows& rows);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::StagedRows& staged);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::Strips& strips);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::ThreadValue& tv);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::Matmul& product);
[[nodiscard]] std::int64_t shared_bytes(const plan::Plan& plan, const plan::Several& several);

// For families.
/// The tuple of `dims`, and a layout of such modes.
[[nodiscard]] IntTuple tuple_of(const std::vector<Dim>& dims);
[[nodiscard]] Layout flat_layout(const std::vector<Dim>& shape, const std::vector<Dim>& stride);
/// The numbers of the space's modes.
[[nodiscard]] std::vector<std::size_t> modes_of_space(const plan::Plan& plan);
/// "1 block", "3 blocks".
[[nodiscard]] std::string count_text(std::int64_t count, const char* noun);

}  // namespace tilejit::figures
