#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

inline constexpr int kPlainOfSpecial = 4;  ///< instructions that take as long as a special one
/// Registers that hold vectors if two blocks of 512 threads are on a multiprocessor.
inline constexpr int kFewRegisters = 32;
/// Values of a row that a thread holds in the place of what they are made of.
inline constexpr int kMostHeldValues = 48;
inline constexpr int kMostOfTurns = 16;  ///< vectors that a thread loads in one turn

/// Whether the formula has sin, cos or tan, whose calls take registers.
[[nodiscard]] bool calls_sines(const Plan& plan);

/// Whether an output has more than an element per row.
[[nodiscard]] bool writes_elements(const Plan& plan);
/// Bytes of the narrowest access to a row's inputs.
[[nodiscard]] int least_access(const Plan& plan, const Rows& rows);

/// Threads of a row that a block holds: half or twice those of `rows`, if with these the device
/// takes a second turn that is not full; else as many.
[[nodiscard]] int threads_of_turns(const Plan& plan, const Rows& rows, std::int64_t vectors);

/// Whether rows that lie alike are stored in so little time that what blocks compute at first
/// counts, and twice as many blocks as run at once compute no longer than half of that time.
[[nodiscard]] bool stores_briefly(const Plan& plan, const Rows& rows);

/// Microseconds that the device takes for the instructions of a row's threads, about.
[[nodiscard]] double instructions_us(const Plan& plan, const Rows& rows, std::int64_t vectors);

/// Whether the instructions of a row's threads, about, take as long as memory takes for its bytes.
[[nodiscard]] bool computes_longer(const Plan& plan, const Rows& rows, std::int64_t vectors);

/// Threads of a row of `vectors`, at most those of `rows`. Each thread costs what it does beside
/// its vectors, so fewer share a row if all instructions take longer than memory. The device stays
/// full of threads, which hold at most `most_held` vectors each.
[[nodiscard]] int threads_of_busy_device(const Plan& plan, Rows rows, std::int64_t vectors,
                                         std::int64_t most_held);

/// Threads of a row of `vectors`, at least those of `rows`. Stored rows of an odd number of 16-byte
/// vectors begin within sectors, so that each step of a row's threads shares a sector with another
/// step or row: few steps have few vectors, unless the instructions of a full device take longer.
[[nodiscard]] int threads_of_odd_rows(const Plan& plan, const Rows& rows, std::int64_t vectors);

/// The same of rows that are held and come by words: a thread has four of them, if three quarters
/// of the threads have as many. More would leave fewer threads to load while others wait.
[[nodiscard]] int threads_of_words(const Plan& plan, const Rows& rows, std::int64_t vectors);

/// The same of short rows that are stored by accesses below a sector: threads of one row write a
/// sector together, since parts of it that arrive apart cost the L2 cache an access each.
[[nodiscard]] int threads_of_narrow_stores(const Plan& plan, const Rows& rows,
                                           std::int64_t vectors);

/// The same of rows that are stored in parts of sectors, if the L2 cache takes longer for these
/// than the memory for all bytes: threads of a row store a sector together.
[[nodiscard]] int threads_of_stored_parts(const Plan& plan, const Rows& rows, std::int64_t vectors);

/// Whether twice as many threads of a device that has few go through a row of `vectors` in less
/// time than `threads`: each saves elements, and combines once more.
[[nodiscard]] bool gains_by_more(const Plan& plan, const Rows& rows, std::int64_t vectors,
                                 int threads);

/// Whether a thread goes through all of a short column in less time than `sharing` threads take to
/// go through their parts of it and meet.
[[nodiscard]] bool takes_less_alone(const Plan& plan, const Rows& rows, std::int64_t length,
                                    std::int64_t sharing);

/// Whether a loop would be slower than loading all vectors of a thread (`register_vectors`) at
/// once: each multiprocessor has one block or none, which waits for every turn. A single turn is
/// shorter without the loop's partial sums.
[[nodiscard]] bool waits_for_turns(const Plan& plan, const Rows& rows);

}  // namespace tilejit::plan
