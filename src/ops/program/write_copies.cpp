// Loads, stores and atomics.
#include <algorithm>

#include "program/kernel_text.hpp"
#include "program/kernel_window.hpp"
#include "program/kernel_writer.hpp"
#include "program/shared_layout.hpp"

namespace tilejit::program {
namespace {

std::string pad_text(TilePad pad, DType dtype) {
  const std::string type(expr::compute_type(dtype));
  const bool is_double = dtype == f64;
  switch (pad) {
    case TilePad::one: return type + "(1)";
    case TilePad::neg_zero: return "-" + type + "(0)";
    case TilePad::nan: return is_double ? "math::nan_f64()" : "math::nan_f32()";
    case TilePad::pos_inf: return is_double ? "math::inf_f64()" : "math::inf_f32()";
    case TilePad::neg_inf: return is_double ? "-math::inf_f64()" : "-math::inf_f32()";
    default: return type + "(0)";
  }
}

/// The axis along which threads that follow each other have elements; -1: none.
int first_axis(const Distribution& of) {
  if (!of.of_value.empty() && of.of_value.front().step == 1 && of.of_value.front().extent > 1) {
    return of.of_value.front().axis;
  }
  for (const Distribution::Digit& digit : of.of_thread) {
    if (digit.axis >= 0) return digit.axis;
  }
  return -1;
}

std::string_view atomic_function(TileAtomic::Kind kind) {
  using Kind = TileAtomic::Kind;
  switch (kind) {
    case Kind::add: return "atomic_add";
    case Kind::max: return "atomic_max";
    case Kind::min: return "atomic_min";
    case Kind::bit_and: return "atomic_and";
    case Kind::bit_or: return "atomic_or";
    case Kind::bit_xor: return "atomic_xor";
    case Kind::exchange: break;
  }
  return "atomic_exchange";
}

}  // namespace

bool KernelWriter::is_crosswise(const Window& window, const Distribution& of) const {
  const WindowFacts facts = facts_of(window, plan_.code, plan_.signature.tensors, views_);
  if (facts.vector_axis < 0 || count_of(of.shape) < 4 * 32 || window.mask) return false;
  const int first = first_axis(of);
  return first >= 0 && first != facts.vector_axis;
}

void KernelWriter::load(const Load& load, const Array& to) {
  const Window& window = load.window;
  const int tensor = plan_.code.views[static_cast<std::size_t>(window.view)].tensor;
  before_read(Hazards::tensor(tensor));
  const Opened opened = open_window(window, to.spread);
  headers_.insert("math");
  const std::string pad = stored_text(pad_text(load.pad, to.dtype), to.dtype);
  const bool by_element =
      window.mask || window.kind == TileIndex::Kind::gather || opened.facts.nested;
  if (by_element) {
    each_element(opened, window, to.spread, [&](const std::string& inside, const std::string& at) {
      line(to.name + "[i] = " + pad + ";");
      line("if (" + inside + ") " + to.name + "[i] = " + at + ";");
    });
  } else {
    const int axis = opened.facts.vector_axis;
    const std::int64_t count = opened.wide == "false" ? 1
                                                      : std::min(to.spread.vector_along(axis),
                                                                 vector_limit(opened.facts, to));
    headers_.insert("neighbours");
    const Address at = address(opened, window, to.spread);
    const std::string type = storage(to.dtype);
    choose_path(
        opened, to.spread, count,
        [&] {
          line("load_wide<" + type + ", " + std::to_string(count) + ">(&" + to.name + "[i], " +
               at.first + at.of_value + ");");
        },
        [&] {
          line("load_neighbours<" + std::to_string(count) + ">(&" + to.name + "[i], " + at.first +
               at.of_value + ", " + valid_text(opened, to.spread) + ", " + opened.wide + ", " +
               pad + ");");
        },
        [&] {
          open_values(to.spread.values());
          line(to.name + "[i] = " + pad + ";");
          close();
        });
  }
  hazards_.read(Hazards::tensor(tensor));
}

/// The longest vector: longer ones than 16 bytes need an address aligned to 16 bytes.
std::int64_t KernelWriter::vector_limit(const WindowFacts& facts, const Array& array) {
  return facts.vector * size_bytes(array.dtype) >= 16 ? 1024 : facts.vector;
}

void KernelWriter::store(const Window& window, const Array& from) {
  const int tensor = plan_.code.views[static_cast<std::size_t>(window.view)].tensor;
  before_write(Hazards::tensor(tensor));
  const Opened opened = open_window(window, from.spread);
  const std::string owner = is_owner(from.spread);
  const bool by_element =
      window.mask || window.kind == TileIndex::Kind::gather || opened.facts.nested;
  if (by_element) {
    each_element(opened, window, from.spread,
                 [&](const std::string& inside, const std::string& at) {
                   line("if (" + (owner == "true" ? "" : owner + " && ") + inside + ") " + at +
                        " = " + from.name + "[i];");
                 });
  } else {
    const int axis = opened.facts.vector_axis;
    const std::int64_t count = opened.wide == "false" ? 1
                                                      : std::min(from.spread.vector_along(axis),
                                                                 vector_limit(opened.facts, from));
    headers_.insert("neighbours");
    if (owner != "true") open("if (" + owner + ") {");
    const Address at = address(opened, window, from.spread);
    const std::string type = storage(from.dtype);
    choose_path(
        opened, from.spread, count,
        [&] {
          line("store_wide_from<" + type + ", " + std::to_string(count) + ">(" + at.first +
               at.of_value + ", &" + from.name + "[i]);");
        },
        [&] {
          line("store_neighbours<" + std::to_string(count) + ">(" + at.first + at.of_value + ", &" +
               from.name + "[i], " + valid_text(opened, from.spread) + ", " + opened.wide + ");");
        },
        [] {});
    if (owner != "true") close();
  }
  hazards_.write(Hazards::tensor(tensor));
}

void KernelWriter::load_shared(const Load& load, const Place& to, bool ahead) {
  const Window& window = load.window;
  const int tensor = plan_.code.views[static_cast<std::size_t>(window.view)].tensor;
  const DType dtype = plan_.signature.tensors[static_cast<std::size_t>(tensor)].dtype;
  WindowFacts facts = facts_of(window, plan_.code, plan_.signature.tensors, views_);
  const int last = static_cast<int>(window.tile.size()) - 1;
  const bool simple =
      !window.mask && window.kind != TileIndex::Kind::gather && !facts.nested && dtype == to.dtype;
  std::int64_t count = simple && facts.vector_axis == last && last >= 0 ? facts.vector : 1;
  while (count > 1 && !keeps_vectors(to.layout, to.shape, count)) count /= 2;
  if (simple && facts.vector_axis == last) facts.vector = count;
  const Distribution of = copy_distribution(window.tile, plan_.threads, facts);
  if (!simple || count == 1 || of.vector_along(last) != count) {
    Array values = declare(dtype, of);
    this->load(load, values);
    return put(converted(values, to.dtype), to);
  }
  before_read(Hazards::tensor(tensor));
  const Opened opened = open_window(window, of);
  if (opened.wide == "false") {
    const Array values = declare(dtype, of);
    this->load(load, values);
    return put(values, to);
  }
  const bool zeros = load.pad == TilePad::zero || load.pad == TilePad::none;
  const std::int64_t bytes = count * size_bytes(dtype);
  const bool is_async = ahead && zeros && bytes >= 4 && plan_.target.major >= 8;
  headers_.insert(is_async ? "copy_ahead" : "neighbours");
  before_write(to.object);
  const std::string owner = is_owner(of);
  if (owner != "true") open("if (" + owner + ") {");
  const Address at = address(opened, window, of);
  Texts coordinates;
  for (int i = 0; i <= last; ++i) coordinates.push_back(coordinate(of, i, "i"));
  const std::string target = "&" + to.pointer + "[" + index_in(to, coordinates) + "]";
  const std::string vector = std::to_string(count);
  const std::string type = storage(dtype);
  const std::string pad = stored_text(pad_text(load.pad, dtype), dtype);
  const std::string is_inside = inside(of, "i");
  headers_.insert("math");
  choose_path(
      opened, of, count,
      [&] {
        line(is_async
                 ? "copy_ahead<" + vector + ">(" + target + ", " + at.first + at.of_value + ");"
                 : "copy_wide<" + vector + ">(" + target + ", " + at.first + at.of_value + ");");
      },
      [&] {
        const std::string valid = valid_text(opened, of);
        const std::string text =
            is_async ? "copy_ahead<" + vector + ">(" + target + ", " + at.first + at.of_value +
                           ", " + opened.tensor + ", " + valid + ", " + opened.wide + ");"
                     : "copy_neighbours<" + vector + ">(" + target + ", " + at.first + at.of_value +
                           ", " + valid + ", " + opened.wide + ", " + pad + ");";
        line(is_inside == "true" ? text : "if (" + is_inside + ") " + text);
      },
      {});
  if (owner != "true") close();
  hazards_.write(to.object);
  hazards_.read(Hazards::tensor(tensor));
  if (is_async && to.object != Hazards::kAhead) hazards_.copy_ahead();
}

void KernelWriter::write_step(const Load& step) {
  if (is_shared(step.tile)) {
    if (ahead_.contains(&step)) return;  // its loop has it loaded
    if (stages_ > 1) {
      warn("the copy to '" + slot(step.tile).name +
           "' is waited for in each step of the loop: only copies at the loop's own level, whose "
           "place depends on nothing that the loop makes but its counter, go ahead, from sm_80 on");
    }
    return load_shared(step, place(step.tile), pipelines_ == 0);
  }
  const int tensor = plan_.code.views[static_cast<std::size_t>(step.window.view)].tensor;
  const DType dtype = plan_.signature.tensors[static_cast<std::size_t>(tensor)].dtype;
  const Array target = array(step.tile);
  if (is_crosswise(step.window, target.spread)) {
    const Array values = declare(
        dtype,
        copy_distribution(step.window.tile, plan_.threads,
                          facts_of(step.window, plan_.code, plan_.signature.tensors, views_)));
    load(step, values);
    return assign(converted(values, target.dtype), step.tile);
  }
  if (dtype == target.dtype) return load(step, target);
  const Array values = declare(dtype, target.spread);
  load(step, values);
  assign(converted(values, target.dtype), step.tile);
}

void KernelWriter::write_step(const Store& step) {
  const int tensor = plan_.code.views[static_cast<std::size_t>(step.window.view)].tensor;
  const DType dtype = plan_.signature.tensors[static_cast<std::size_t>(tensor)].dtype;
  const WindowFacts facts = facts_of(step.window, plan_.code, plan_.signature.tensors, views_);
  Distribution of = copy_distribution(step.window.tile, plan_.threads, facts);
  if (!is_shared(step.tile)) {
    const Distribution own = array(step.tile).spread;
    if (!is_crosswise(step.window, own)) of = own;
  }
  if (!is_shared(step.tile) && of != array(step.tile).spread) {
    // Converted first: fewer bytes pass through shared memory if the type is narrower.
    return store(step.window, as(converted(array(step.tile), dtype), of));
  }
  store(step.window, converted(operand(step.tile, of), dtype));
}

void KernelWriter::write_step(const AtomicUpdate& step) {
  headers_.insert("atomic");
  const int tensor = plan_.code.views[static_cast<std::size_t>(step.window.view)].tensor;
  const DType dtype = slot(step.tile).type.dtype;
  const Distribution of = is_shared(step.tile)
                              ? copy_distribution(step.window.tile, plan_.threads, {})
                              : *plan_.distributions[static_cast<std::size_t>(step.tile)];
  const Array values = operand(step.tile, of);
  before_write(Hazards::tensor(tensor));
  const Opened opened = open_window(step.window, of);
  const std::string owner = is_owner(of);
  const Array old = step.out >= 0 ? declare(dtype, of) : Array();
  each_element(opened, step.window, of, [&](const std::string& inside, const std::string& at) {
    const std::string update =
        std::string(atomic_function(step.kind)) + "(&" + at + ", " + values.name + "[i]);";
    if (step.out >= 0) line(old.name + "[i] = " + stored_text("0", dtype) + ";");
    line("if (" + (owner == "true" ? "" : owner + " && ") + inside + ") " +
         (step.out >= 0 ? old.name + "[i] = " : "") + update);
  });
  hazards_.write(Hazards::tensor(tensor));
  if (step.out < 0) return;
  // Threads that repeat an element take its old value from the one that updated it.
  if (!of.repeats()) return assign(old, step.out);
  const Place between = scratch(dtype, of.shape);
  put(old, between);
  const Array all = declare(dtype, of);
  get(between, all);
  assign(all, step.out);
}

}  // namespace tilejit::program
