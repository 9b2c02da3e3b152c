#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "program/distribute.hpp"
#include "program/hazards.hpp"
#include "program/kernel_plan.hpp"
#include "program/pipelines.hpp"

namespace tilejit::program {

/// The part of a tile's name that its variables have.
[[nodiscard]] std::string short_name(const std::string& name);

/// Writes the CUDA text of a plan, statement by statement. A tile in registers is an array of its
/// thread's values, `r3_acc`; a shared one a pointer, `s4_A`. No text of the program reaches the
/// kernel but names, which are identifiers behind a prefix. Sets the plan's text, shared_bytes,
/// assertions and warnings.
class KernelWriter {
 public:
  explicit KernelWriter(KernelPlan& plan);
  void write();

 private:
  /// An array of a thread's values, of a tile with this distribution.
  struct Array {
    std::string name;
    DType dtype = f32;
    Distribution spread;
  };
  /// Elements in shared memory, by coordinates.
  struct Place {
    std::string pointer;
    DType dtype = f32;
    Extents shape;
    ComposedLayout layout;
    Hazards::Object object = 0;
  };
  using Texts = std::vector<std::string>;

  // kernel_writer.cpp
  void steps(const Steps& steps);
  void step(const Step& step);
  void line(const std::string& text);
  void lines(std::string_view text);
  void open(const std::string& text);
  void close(const std::string& text = "}");
  /// `for (int i = 0; i < values; i += by) {`, unrolled.
  void open_values(std::int64_t values, std::int64_t by = 1);
  [[nodiscard]] std::string fresh(const char* prefix) { return prefix + std::to_string(names_++); }
  [[nodiscard]] std::string block_text() const;
  [[nodiscard]] std::string thread_text() const;
  [[nodiscard]] std::string declarations() const;
  [[nodiscard]] std::string parameters() const;
  [[nodiscard]] const TileSlot& slot(int tile) const {
    return plan_.code.tiles[static_cast<std::size_t>(tile)];
  }
  [[nodiscard]] bool is_shared(int tile) const { return slot(tile).space == TileSpace::shared; }
  [[nodiscard]] Array array(int tile) const;
  [[nodiscard]] Place place(int tile) const;
  [[nodiscard]] std::string storage(DType dtype);

  // Threads and their values: write_values.cpp
  /// The coordinate along `axis` of value `i` of the thread.
  [[nodiscard]] std::string coordinate(const Distribution& of, int axis, const std::string& i);
  /// The part of it that all values of the thread share; empty for 0.
  [[nodiscard]] std::string thread_coordinate(const Distribution& of, int axis);
  /// Whether value `i` lies in the tile; "true" if all do.
  [[nodiscard]] std::string inside(const Distribution& of, const std::string& i);
  /// Whether the thread is the first of those that have the same elements; "true" if all are.
  [[nodiscard]] std::string is_owner(const Distribution& of);

  // Expressions: write_values.cpp
  [[nodiscard]] std::string scalar_source(int scalar) const;
  /// The text of a scalar, after the statements that compute it.
  [[nodiscard]] std::string scalar(const Value& value);
  [[nodiscard]] std::string condition(const Value& value);
  [[nodiscard]] std::string integer(const Value& value) { return "i64(" + scalar(value) + ")"; }
  [[nodiscard]] Distribution space_of(const Value& value, int out) const;
  /// Writes the reductions and scans that `value` needs, and then, inside a loop over values of
  /// `wanted`, a slice of `space`, calls `use` with the text of the value.
  /// A value that is known before the launch is given as one of `dtype`.
  void evaluate(const Value& value, const Distribution& space, const Extents& wanted, DType dtype,
                const std::function<void(const std::string& value)>& use);
  /// The values of `value` in a new array over all of `space`.
  [[nodiscard]] Array evaluated(const Value& value, const Distribution& space, DType dtype);

  struct Evaluation;
  void reduce(Evaluation& evaluation, expr::NodeId id);
  void scan(Evaluation& evaluation, expr::NodeId id);
  void statements(const Evaluation& evaluation, expr::NodeId id, const Distribution& over);
  void combine_threads(const Distribution& of, std::uint32_t axes, const std::string& name,
                       const std::string& type, std::int64_t type_bytes, std::int64_t values,
                       const std::string& combine);

  // Between registers and shared memory: write_moves.cpp
  [[nodiscard]] Place scratch(DType dtype, const Extents& shape, std::int64_t offset = 0,
                              const std::optional<ComposedLayout>& layout = {});
  [[nodiscard]] std::string index_in(const Place& place, const Texts& coordinates) const;
  void put(const Array& from, const Place& to);
  void get(const Place& from, const Array& to);
  /// The array itself, or a copy of it as `wanted`.
  [[nodiscard]] Array as(const Array& from, const Distribution& wanted);
  /// The tile as an array of that distribution, of which it may be in shared memory.
  [[nodiscard]] Array operand(int tile, const Distribution& wanted);
  [[nodiscard]] Array converted(const Array& from, DType to);
  [[nodiscard]] Array declare(DType dtype, const Distribution& spread);
  void assign(const Array& from, int to);
  [[nodiscard]] Texts part_origin(const Rearrange& step, const Extents& whole, const Extents& part);
  void put_part(int tile, const Place& to, const Texts& origin);
  void put_beside(int tile, const Place& to, const Texts& origin, bool is_next);
  [[nodiscard]] Texts source_coordinates(const Rearrange& step, const Distribution& of,
                                         const Extents& whole, const Texts& origin);

  // Windows: write_copies.cpp
  struct Opened;
  [[nodiscard]] std::string dim_text(const Dim& dim) const;
  [[nodiscard]] Texts origin_of(const Window& window, const Texts& extents);
  [[nodiscard]] Opened open_window(const Window& window, const Distribution& of);
  [[nodiscard]] std::string valid_text(const Opened& opened, const Distribution& of);
  void each_element(
      const Opened& opened, const Window& window, const Distribution& of,
      const std::function<void(const std::string& inside, const std::string& at)>& use);
  [[nodiscard]] bool is_crosswise(const Window& window, const Distribution& of) const;
  /// The address of the thread's first element, after its declaration; and what a value adds to it.
  struct Address {
    std::string first, of_value;
  };
  [[nodiscard]] Address address(const Opened& opened, const Window& window, const Distribution& of);
  /// `fast` for whole tiles whose vectors are aligned, else `usual`, which may be empty for tiles
  /// that are whole or absent.
  void choose_path(const Opened& opened, const Distribution& of, std::int64_t count,
                   const std::function<void()>& fast, const std::function<void()>& usual,
                   const std::function<void()>& absent);
  void load(const Load& load, const Array& to);
  void store(const Window& window, const Array& from);
  /// `place`: a shared tile, or one of its buffers.
  void load_shared(const Load& load, const Place& place, bool ahead);
  [[nodiscard]] bool may_be_negative(const Value& value) const;
  [[nodiscard]] static std::int64_t vector_limit(const WindowFacts& facts, const Array& array);

  // Loops and products: write_loops.cpp, write_product.cpp
  void write_pipelined(const Loop& step, const std::vector<const Load*>& ahead, const Texts& range);
  [[nodiscard]] Place product_operand(int tile, std::int64_t& used);
  void write_fma(const Gemm& step, const Place& a, const Place& b);
  void write_warp_product(const Gemm& step, const WarpProduct& product, const Place& a,
                          const Place& b, const Array& out);
  /// The name of a type declared before the kernel, which `make` writes.
  std::string declared(const char* prefix,
                       const std::function<std::string(const std::string&)>& make);

  /// A sentence for the author about the statement that is being written.
  void warn(const std::string& sentence);

  // Text for people: write_debug.cpp
  /// Puts the tiles that single threads print where these find them.
  void stage_printed(const Steps& steps);
  void stage_printed(const PrintText& step);
  void print_tile(int tile);

  // A step each.
  void write_step(const SetView& step);
  void write_step(const Fill& step);
  void write_step(const Load& step);
  void write_step(const Store& step);
  void write_step(const Move& step);
  void write_step(const Gemm& step);
  void write_step(const Compute& step);
  void write_step(const Rearrange& step);
  void write_step(const SetScalar& step);
  void write_step(const Loop& step);
  void write_step(const WhileLoop& step);
  void write_step(const Branch& step);
  void write_step(const AtomicUpdate& step);
  void write_step(const PrintText& step);
  void write_step(const Check& step);
  void write_step(const Meet& step);

  // Barriers.
  void before_read(Hazards::Object object);
  void before_write(Hazards::Object object);
  void meet();
  void wait_for_copies();

  KernelPlan& plan_;
  std::string out_;
  int depth_ = 1;
  int names_ = 0;
  [[nodiscard]] std::int64_t exchange_offset() const {
    return tiles_bytes_ + (scratch_bytes_ + 15) / 16 * 16;
  }

  std::int64_t scratch_bytes_ = 0;
  std::int64_t exchange_bytes_ = 0;  // of one of the two
  int exchange_ = 0;                 // the one that was used last
  std::int64_t tiles_bytes_ = 0;
  std::vector<const SetView*> views_;
  Hazards hazards_;
  std::set<std::string> headers_;
  std::map<std::string, std::string> places_;    // texts of a thread's coordinates, their names
  std::string declarations_;                     // of these
  std::string types_;                            // declared before the kernel
  std::map<std::string, std::string> declared_;  // texts of types, with a name of their own
  std::map<const Gemm*, WarpProduct> products_;
  std::set<const Load*> ahead_;   // that a loop with stages does
  std::set<int> counts_up_;       // scalars that are not negative
  std::map<int, Place> printed_;  // tiles that are printed, in scratch
  const Step* at_ = nullptr;
  int in_thread_ = 0;  // inside so many branches of single threads
  int pipelines_ = 0;  // inside so many loops that copy ahead
  int stages_ = 1;     // of the innermost loop
};

}  // namespace tilejit::program
