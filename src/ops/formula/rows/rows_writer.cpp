#include "rows/rows_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/integer.hpp"
#include "device/scale.hpp"
#include "render/combination.hpp"
#include "render/held_values.hpp"
#include "rows/column_shape.hpp"
#include "rows/row_shape.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"
#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"

namespace tilejit::render {
namespace {

// Of a thread; as long a chain of roundings as one of 128 elements.
constexpr std::int64_t kMostBatchesInTotal = 128;
constexpr int kElementsOfBounded = 16;  // that a thread holds
constexpr int kThreadsOfBounded = 1024;
constexpr int kCostOfBounded = 12;  // instructions of an element: a division
// Threads of a block of which a multiprocessor has two if each has 64 registers, and how many of
// these hold something.
constexpr int kThreadsOfLarge = 512, kRegistersOfLarge = 48;
constexpr int kThreadsOfFull = 1024;  // of a multiprocessor if each has 64 registers
constexpr int kRegistersOfOffset = 2;

}  // namespace

using expr::Node;
using expr::NodeId;
using expr::Op;
using plan::Operand;

std::vector<std::string_view> RowsWriter::own_headers() const {
  std::vector<std::string_view> headers = {"wide", direction_ ? "scan" : "reduce"};
  const auto in_pieces = [&](const Operand& operand) { return rows_at_once(operand) > 1; };
  const auto includes_it = [&](const Operand& operand) {
    return form_of(operand) == Form::contiguous;
  };
  if (std::ranges::any_of(plan_.operands, in_pieces) &&
      std::ranges::none_of(plan_.operands, includes_it))
    headers.emplace_back("contiguous");
  if (rows_.cluster > 1) headers.emplace_back("cluster_reduce");
  const auto is_centred = [](const expr::JoinedSum& sum) { return sum.total != expr::kNoNode; };
  if (std::ranges::any_of(passes_.sums, is_centred)) headers.emplace_back("centred");
  headers.emplace_back("dependent");
  if (rows_.turned > 0) headers.emplace_back("turned");
  if (rows_.turned_inputs > 0) headers.emplace_back("turned_inputs");
  if (keeps_inputs()) headers.emplace_back(plan_.peeled ? "kept" : "bulk");
  add_headers_of_results(headers);
  return headers;
}

void RowsWriter::add_headers_of_results(std::vector<std::string_view>& headers) const {
  if (finds_places_by_warps()) headers.emplace_back("places");
  if (combines_rows()) headers.emplace_back("row_totals");
}

void RowsWriter::write_behind_formula() {
  if (keeps_inputs()) write_kept();
  if (rows_.alike > 1) write_alike();
  write_vector();
  write_row_store();
  if (rows_.turned > 0) write_turned();
  if (rows_.turned_inputs > 0) write_turned_inputs();
}

void RowsWriter::write_sharing() {
  const bool splits = rows_.splits > 1;
  line(fmt::format("#define SPLITS_ROWS {:d}", splits));
  if (splits) write_combining();
  line(fmt::format("enum : int {{ kSplits = {} }};  // blocks a row that meet in memory",
                   rows_.splits));
  line(fmt::format("enum : int {{ kRegisterVectors = {} }};  // per thread",
                   rows_.register_vectors));
  line(fmt::format("#define ROWS_IN_REGISTERS {:d}", rows_.register_vectors > 0));
  if (const int vectors = weights_at_once(); vectors > 1)
    line(fmt::format("#define WEIGHTS_AT_ONCE {}  // vectors that have theirs loaded", vectors));
  const auto rows = plan::vectors_across_rows(plan_, rows_);
  const std::int64_t units = rows_.alike > 1 ? plan::total_units(plan_) : rows.value_or(0);
  const bool whole = units > 0 && units % (plan_.threads / rows_.row_threads) == 0;
  line(fmt::format("enum : bool {{ kBlocksAreWhole = {} }};  // all have as many rows", whole));
  write_steps();
  line(fmt::format("enum : int {{ kBatch = {} }};  // loads in flight", plan_.unroll));
}

void RowsWriter::write_combining() {
  line(fmt::format("#define COUNTS_BLOCKS {:d}", rows_.atomics));
  write_combining_block();
  line(fmt::format("enum : int {{ kCombiners = {} }};  // threads of it that have a row",
                   plan::combiners(plan_)));
}

void RowsWriter::write_combining_block() {
  line(fmt::format("#define KERNEL_NAME_COMBINE {}_combine", plan_.kernel_name));
  line(fmt::format("enum : int {{ kCombineThreads = {} }};  // a block that combines what is left",
                   plan::combining_threads(plan_)));
}

void RowsWriter::write_steps() {
  line(fmt::format("enum : int {{ kWholeSteps = {} }};  // vectors that each thread has",
                   plan::whole_steps(plan_, rows_)));
  if (asks_in_passes()) line("#define ASKS_IN_PASSES 1  // whether vectors exist");
  if (computes_offsets_anew()) line("#define OFFSETS_ANEW 1  // of vectors that are stored");
  line(fmt::format("enum : bool {{ kComputesAlways = {} }};  // also what does not exist",
                   computes_always_));
  line(fmt::format("enum : int {{ kReductions = {} }};  // one after another", passes_.count));
  line(fmt::format("enum : int {{ kCluster = {} }};  // blocks a row", rows_.cluster));
  line(fmt::format("#define USES_CLUSTER {:d}", rows_.cluster > 1));
  if (rows_.abreast) line("#define ROWS_ABREAST 1  // threads side by side have neighbouring rows");
  if (rows_.turned > 0) {
    line("#define TURNS_OUTPUTS 1  // some of them pass through shared memory");
    line(fmt::format("enum : int {{ kTurned = {} }};  // vectors of a thread at once",
                     rows_.turned));
    line(fmt::format("alignas(16) __shared__ unsigned char turned_outputs[{}];",
                     plan::turned_bytes(plan_, rows_)));
  }
  if (rows_.turned_inputs > 0) write_turning_of_inputs();
  if (const int blocks = blocks_at_once(); blocks > 1)
    line(fmt::format("#define BLOCKS_AT_ONCE {}  // of a multiprocessor", blocks));
  if (has_few_threads()) line("#define HAS_FEW_THREADS 1  // which exchange no places");
  if (plan::has_centres(plan_)) {
    line("#define PARTS_HAVE_CENTRES 1  // which are near the elements of a batch only");
    if (!rows_.along()) line(fmt::format("#define CHAINS_BATCHES {:d}", chains_batches()));
  }
  line(fmt::format("#define TAKES_ROW_AFTER_ROW {:d}", rows_.ahead));
  line(fmt::format("#define KEEPS_INPUTS {:d}", keeps_inputs()));
  line(fmt::format("#define HAS_ALIKE_ROWS {:d}", rows_.alike > 1));
}

/// Whether a large block would have no registers for vectors and for what several passes compute.
bool RowsWriter::asks_in_passes() const {
  if (plan_.threads < kThreadsOfLarge || computes_always_ ||
      plan::whole_steps(plan_, rows_) == rows_.register_vectors)
    return false;
  const int loaded = rows_.along() ? plan::registers_of_vector(plan_, rows_)
                                   : plan::registers_of_held(plan_, rows_);
  return rows_.register_vectors * (loaded + plan_.vector) > kRegistersOfLarge &&
         shares_values(plan_, passes_);
}

/// Whether threads of a cluster have no registers for the offsets of all their vectors.
bool RowsWriter::computes_offsets_anew() const {
  if (rows_.along() || rows_.cluster == 1 || rows_.turned > 0 || !plan::writes_elements(plan_) ||
      plan_.threads * blocks_at_once() < kThreadsOfFull)
    return false;
  const int each = plan::registers_of_held(plan_, rows_) + kRegistersOfOffset;
  return rows_.register_vectors * each > kRegistersOfLarge;
}

bool RowsWriter::has_few_threads() const {
  const auto finds_place = [](const Node& node) { return expr::finds_place(node.op); };
  if (std::ranges::any_of(plan_.program.nodes, finds_place)) return false;
  const auto count = plan::vectors_across_rows(plan_, rows_);
  return rows_.along() && count && *count * rows_.row_threads < device::kThreadsAtOnce;
}

/// Without a bound, values that several passes need would take registers from other threads: those
/// of half a multiprocessor are enough for a thread of few elements.
int RowsWriter::blocks_at_once() const {
  const bool held = rows_.along() && rows_.cluster == 1 && rows_.register_vectors > 0;
  const bool bounded = held && rows_.register_vectors * plan_.vector <= kElementsOfBounded &&
                       cost_of_shared_values(plan_, passes_) >= kCostOfBounded;
  return bounded ? kThreadsOfBounded / plan_.threads : plan::blocks_at_once(plan_);
}

/// Whether a thread may have so many batches that errors would grow with their number.
bool RowsWriter::chains_batches() const {
  const auto vectors = plan::vectors_in_row(plan_, rows_);
  return !vectors || *vectors > kMostBatchesInTotal * plan_.unroll * plan::threads_of_row(rows_);
}

void RowsWriter::write_partials() {
  const std::string counters =
      rows_.atomics ? fmt::format(" + {}", plan::counters_bytes(plan_)) : std::string();
  line(fmt::format("TILE_DEVICE unsigned char* partials_of(const Params& p) {{\n  return {};\n}}\n",
                   rows_.splits > 1 ? "p.partials" + counters : "nullptr"));
}

/// List<Pass0, Pass1>, and the bytes of the largest.
void RowsWriter::write_pass_list() {
  std::string list, bytes = "4";
  for (int pass = 0; pass < passes_.count; ++pass) {
    const std::string name = fmt::format("Pass{}", pass);
    list += (list.empty() ? "" : ", ") + name;
    bytes = fmt::format("(sizeof({0}) > {1} ? int(sizeof({0})) : {1})", name, bytes);
  }
  line("template <class... T>\nstruct List {};");
  line("struct Below {};  // asks for the sums below a maximum");
  line(fmt::format("using PassList = List<{}>;\nenum : int {{ kPassBytes = {} }};", list, bytes));
  if (leaves_passes()) {
    line(fmt::format("static_assert(kPassBytes == {}, \"the host makes room\");",
                     plan::accumulator_bytes(plan_)));
  }
  line("");
}

/// Whether the lanes of a warp combine what `reductions` accumulate by instructions of their own: a
/// single extremum in single precision, or its place among 2^31.
bool RowsWriter::has_instruction(const std::vector<NodeId>& reductions) const {
  if (reductions.size() != 1 || plan_.target.major < 8) return false;
  const Node& node = node_of(reductions.front());
  if (!expr::finds_place(node.op)) return is_extremum(node.op) && accumulator_type(node) == "float";
  return rows_.along() && !rows_.abreast && rows_.row_threads >= plan::kWarp &&
         plan::has_short_rows(plan_) && accumulator_type(node_of(node.args[0])) == "float";
}

bool RowsWriter::finds_places_by_warps() const {
  for (int pass = 0; pass < passes_.count; ++pass) {
    const std::vector<NodeId> reductions = passes_.reductions(plan_.program, pass);
    if (has_instruction(reductions) && expr::finds_place(node_of(reductions.front()).op))
      return true;
  }
  return false;
}

void RowsWriter::write_warp_combination(const std::vector<NodeId>& reductions) {
  const NodeId id = reductions.front();
  const Node& node = node_of(id);
  line(fmt::format("  enum : bool {{ kExtremum = {} }};", has_instruction(reductions)));
  if (!has_instruction(reductions)) return;
  const std::string text =
      expr::finds_place(node.op)
          ? fmt::format("find_{1}(a{0}, b{0})", id,
                        node.op == Op::reduce_argmin ? "smallest" : "largest")
          : fmt::format("a{0} = warp_{1}(a{0})", id, node.op == Op::reduce_max ? "max" : "min");
  line(fmt::format("\n  TILE_DEVICE void combine_warp() {{\n    {};\n  }}", text));
}

void RowsWriter::write_pass_fold(int pass) {
  if (const Operand* words = extremum_of_words(pass)) {
    write_word_fold(pass, *words);
  } else {
    CombiningWriter::write_pass_fold(pass);
  }
}

const plan::Operand* RowsWriter::extremum_of_words(int pass) const {
  const std::vector<NodeId> folded = passes_.folded(plan_.program, pass);
  if (folded.size() != 1 || !is_extremum(node_of(folded[0]).op)) return nullptr;
  const Node& argument = node_of(node_of(folded[0]).args[0]);
  if (argument.op != Op::load || !rows_.along() || plan_.ragged || plan_.vector < 4) return nullptr;
  const auto& operand = plan_.operands[static_cast<std::size_t>(argument.source)];
  const bool has_instruction = operand.dtype == f16 || operand.dtype == bf16;
  return has_instruction && is_loaded(operand) && form_of(operand) == Form::packed ? &operand
                                                                                   : nullptr;
}

/// Folds the extremum of a vector's words into the accumulator, element by element.
void RowsWriter::write_word_fold(int pass, const Operand& operand) {
  const NodeId id = passes_.folded(plan_.program, pass).front();
  const bool is_max = node_of(id).op == Op::reduce_max;
  const int k = operand.tensor;
  const std::string_view type = expr::storage_type(operand.dtype);
  line("  TILE_DEVICE void fold(const Params& p, const Row& row, Index v,");
  line(fmt::format(
      "                        const Results (&r)[kAcross], Pass{} (&a)[kAcross]) const {{", pass));
  line(fmt::format("    u32 words = in{}.word[0];\n#pragma unroll", k));
  line(fmt::format(
      "    for (int w = 1; w < kVector / 2; ++w) words = {}_words<{}>(words, in{}.word[w]);",
      is_max ? "max" : "min", type, k));
  line(fmt::format("    float x{0}[2];\n    unpack_word<{1}>(words, x{0});", k, type));
  line(fmt::format("    a[0].fold(p, r[0], x{0}[0]);\n    a[0].fold(p, r[0], x{0}[1]);\n  }}", k));
}

bool RowsWriter::has_row_start(const Operand& operand) const {
  const bool loops = rows_.register_vectors == 0 || rows_.ahead;
  return loops && is_loaded(operand);
}

Code RowsWriter::source_of(const Operand& operand) const {
  if (turns_input(operand)) return turned_source_of(operand);
  if (!has_row_start(operand)) return CombiningWriter::source_of(operand);
  Code address = offset_among(operand.modes, Among::reduced);
  address.text.insert(0, fmt::format("row.from{}", operand.tensor));
  return address;
}

bool RowsWriter::turns(const Operand& operand) const {
  return rows_.turned > 0 && plan::is_turned(plan_, rows_, operand);
}

std::string RowsWriter::row_members() const {
  return rows_.turned > 0 || rows_.turned_inputs > 0
             ? "  int column, place;  // of a vector's elements in shared memory\n"
             : "";
}

std::string RowsWriter::turned_outputs(const Operand& operand) const {
  return fmt::format("reinterpret_cast<{}*>(turned_outputs + {})",
                     expr::storage_type(operand.dtype), plan::turned_place(plan_, rows_, operand));
}

Code RowsWriter::destination_of(const Operand& operand) const {
  if (!turns(operand)) return CombiningWriter::destination_of(operand);
  return {.text = fmt::format("{} + row.column * {} + row.place", turned_outputs(operand),
                              plan::turned_pitch(plan_, rows_, operand))};
}

std::string RowsWriter::stride_of(const Operand& operand) const {
  if (turns_input(operand)) return fmt::format("{}", plan::turned_input_pitch(rows_, operand));
  return turns(operand) ? fmt::format("{}", plan::turned_pitch(plan_, rows_, operand))
                        : CombiningWriter::stride_of(operand);
}

bool RowsWriter::keeps_inputs() const {
  return plan::kept_bytes(plan_, rows_) > 0;
}

/// Rows that a group of threads stores are as far apart as there are groups, so that neighbouring
/// groups store neighbouring rows.
void RowsWriter::write_alike() {
  const std::size_t mode = *plan::outermost_kept(plan_, rows_);
  const std::int64_t extent = plan_.extents[mode].value();
  line("// Moves on to the group's row that is n behind this one, if there is one.");
  line("TILE_DEVICE bool move_to_alike(Row& row, int n) {");
  line(fmt::format("  row.c{} += n * {};", mode, core::ceil_div(extent, rows_.alike)));
  line(fmt::format("  return row.c{} < {};\n}}\n", mode, extent));
}

/// Writes the copies of inputs that all rows share to a block's shared memory: one operand's part
/// after another's.
void RowsWriter::write_kept() {
  line("extern __shared__ __align__(16) unsigned char kept_inputs[];\n");
  line("// A row's vector v among those of its block.");
  line("TILE_DEVICE int number_in_block(Index v) {");
  line(
      fmt::format("  return int(v / (kRowThreads * kCluster)) * {} + int(v % kRowThreads){};\n}}\n",
                  plan_.peeled ? "(kRowThreads + 1)" : "kRowThreads", plan_.peeled ? " + 1" : ""));
  line("TILE_DEVICE void keep_inputs(const Params& p, int block_rank) {");
  if (plan_.peeled) {
    write_kept_chunks();
  } else {
    write_kept_vectors();
  }
  line("}\n");
}

/// Threads copy the chunks, and one before each step's, because a row's shift may be any.
void RowsWriter::write_kept_chunks() {
  for (const Operand& operand : plan_.operands) {
    if (!plan::is_kept(plan_, rows_, operand)) continue;
    line(
        fmt::format("  keep_chunks<{}, {}, kRowThreads, kCluster, kRegisterVectors>(kept_inputs + "
                    "{}, p.t{}, {}, block_rank);",
                    type_of(operand), tail_of(operand), place_of_kept(operand), operand.tensor,
                    end_of(operand)));
  }
  line("  __syncthreads();");
}

void RowsWriter::write_kept_vectors() {
  line("  __shared__ u64 full;");
  line("  if (threadIdx.x == 0) {");
  line("    init_barrier(&full);");
  line(
      fmt::format("    fetch_promise<{}, kRowThreads, kCluster, kRegisterVectors>(row_length(p), "
                  "block_rank, &full);",
                  plan::kept_bytes(plan_, rows_) / plan::kept_vectors(plan_, rows_)));
  for (const Operand& operand : plan_.operands) {
    if (!plan::is_kept(plan_, rows_, operand)) continue;
    line(fmt::format(
        "    fetch_vectors<{}, kRowThreads, kCluster, kRegisterVectors>(kept_inputs + {}, p.t{}, "
        "row_length(p), block_rank, &full);",
        plan_.vector * size_bytes(operand.dtype), place_of_kept(operand), operand.tensor));
  }
  line("  }");
  line("  __syncthreads();");
  line("  wait_for_bytes(&full, 0);");
}

/// The offset, in bytes, of a block's part of the operand in the inputs that are kept.
int RowsWriter::place_of_kept(const Operand& operand) const {
  int bytes = 0;
  for (const Operand& before : plan_.operands) {
    if (before.tensor == operand.tensor) break;
    if (plan::is_kept(plan_, rows_, before)) bytes += plan_.vector * size_bytes(before.dtype);
  }
  return bytes * plan::kept_vectors(plan_, rows_);
}

Code RowsWriter::load_in_pass(const Operand& operand) const {
  if (!plan::is_kept(plan_, rows_, operand)) return load_of(operand);
  return {.text = fmt::format(
              "    {}.load(reinterpret_cast<const {}*>(kept_inputs + {}) + number_in_block(v) * "
              "kVector{});\n",
              loaded_name(operand), expr::storage_type(operand.dtype), place_of_kept(operand),
              plan_.peeled ? " - shift" : "")};
}

}  // namespace tilejit::render
