// Products of tiles.
#include <algorithm>

#include "atoms/emit_mma.hpp"
#include "layout/emit.hpp"
#include "program/kernel_text.hpp"
#include "program/kernel_writer.hpp"

namespace tilejit::program {

/// An operand in shared memory, where it may have to be put first.
KernelWriter::Place KernelWriter::product_operand(int tile, std::int64_t& used) {
  if (is_shared(tile)) {
    before_read(tile);
    return place(tile);
  }
  const TileType& type = slot(tile).type;
  Place made = scratch(type.dtype, type.shape, used);
  used += cosize(made.layout.layout()) * size_bytes(type.dtype);
  used = (used + 127) / 128 * 128;
  put(array(tile), made);
  return made;
}

void KernelWriter::write_step(const Gemm& step) {
  const auto found = products_.find(&step);
  std::optional<Array> sums;
  if (found != products_.end()) {
    const Array out = array(step.out);
    const Distribution own = distribution_of(found->second, out.spread.shape, plan_.threads);
    sums = own == out.spread ? out : step.accumulate ? as(out, own) : declare(out.dtype, own);
  }
  std::int64_t used = 0;
  Place a = product_operand(step.a, used);
  Place b;
  if (is_shared(step.b) || used == 0) {
    b = product_operand(step.b, used);
  } else {
    // Both are put in scratch, at different places: one barrier is enough for both.
    const Hazards first = std::exchange(hazards_, Hazards());
    b = product_operand(step.b, used);
    hazards_.join(first);
  }
  before_read(a.object);
  before_read(b.object);
  if (sums) {
    write_warp_product(step, found->second, a, b, *sums);
  } else {
    if (const std::string why = why_fused(plan_.code, step, plan_.target); !why.empty()) {
      warn("the product is done by fused multiply-adds; " + why);
    }
    write_fma(step, a, b);
  }
  hazards_.read(a.object);
  hazards_.read(b.object);
  if (sums && sums->name != array(step.out).name) assign(*sums, step.out);
}

std::string KernelWriter::declared(const char* prefix,
                                   const std::function<std::string(const std::string&)>& make) {
  const auto [found, is_new] = declared_.try_emplace(make("T"), "");
  if (is_new) {
    found->second = fresh(prefix);
    types_ += make(found->second);
  }
  return found->second;
}

/// The sums are the product's own registers while it lasts.
void KernelWriter::write_warp_product(const Gemm& step, const WarpProduct& product, const Place& a,
                                      const Place& b, const Array& out) {
  headers_.insert("block_product");
  const Extents& shape = out.spread.shape;
  const auto layout_type = [&](const Place& place, bool swap) {
    ComposedLayout layout = place.layout;
    if (swap) {
      const Layout& inner = layout.layout();
      layout = {layout.swizzle(), layout.offset(), make_layout({mode(inner, 1), mode(inner, 0)})};
    }
    return declared("Place", [&](const std::string& name) {
      return "namespace tile {\n" + layout::emit_callable(name, layout, layout::IndexBits::b32) +
             "}\n";
    });
  };
  const std::string mma =
      declared("Mma", [&](const std::string& name) { return atoms::emit(product.atom, name); });
  const std::string name = fresh("product");
  const std::int64_t sums = slot(step.a).type.shape[step.a_transposed ? 0 : 1];
  // One after the other, so that their names do not depend on the compiler.
  const std::string place_a = layout_type(a, step.a_transposed);
  const std::string place_b = layout_type(b, !step.b_transposed);
  line("BlockProduct<" + mma + ", " + place_a + ", " + place_b + ", " + std::to_string(shape[0]) +
       ", " + std::to_string(shape[1]) + ", " + std::to_string(sums) + ", " +
       std::to_string(product.warps[0]) + ", " + std::to_string(product.warps[1]) + "> " + name +
       "(tid);");
  if (step.accumulate) {
    open_values(out.spread.values());
    line(name + ".value(i) = to_compute(" + out.name + "[i]);");
    close();
  } else {
    line(name + ".clear();");
  }
  line(name + ".multiply(" + a.pointer + ", " + b.pointer + ");");
  open_values(out.spread.values());
  line(out.name + "[i] = " + stored_text(name + ".value(i)", out.dtype) + ";");
  close();
}

void KernelWriter::write_fma(const Gemm& step, const Place& a, const Place& b) {
  const Array out = array(step.out);
  const Distribution& of = out.spread;
  const std::int64_t sums = slot(step.a).type.shape[step.a_transposed ? 0 : 1];
  const DType type = out.dtype;
  const std::string compute(expr::compute_type(type));
  const std::string sum = fresh("sum");
  line(compute + " " + sum + "[" + std::to_string(of.values()) + "];");
  open_values(of.values());
  line(sum + "[i] = " + (step.accumulate ? "to_compute(" + out.name + "[i])" : compute + "(0)") +
       ";");
  close();
  line("#pragma unroll 4");
  open("for (int k = 0; k < " + std::to_string(sums) + "; ++k) {");
  const Extents rows = {of.shape[0], 1};
  const Extents columns = {1, of.shape[1]};
  const auto fetch = [&](const char* name, const Place& from, const Extents& shape, int axis,
                         bool sum_first) {
    const Distribution slice = slice_of(of, shape);
    line(compute + " " + name + "[" + std::to_string(slice.values()) + "];");
    open_values(slice.values());
    std::string at = coordinate(slice, axis, "i");
    if (slice.overhangs(axis)) {
      headers_.insert("math");
      at = "math::min<int>(" + at + ", " +
           std::to_string(of.shape[static_cast<std::size_t>(axis)] - 1) + ")";
    }
    line(std::string(name) + "[i] = to_compute(" + from.pointer + "[" +
         index_in(from, sum_first ? Texts{"k", at} : Texts{at, "k"}) + "]);");
    close();
  };
  fetch("x", a, rows, 0, step.a_transposed);
  fetch("y", b, columns, 1, !step.b_transposed);
  open_values(of.values());
  const std::string x = "x[" + slice_index(of, rows, "i") + "]";
  const std::string y = "y[" + slice_index(of, columns, "i") + "]";
  if (is_floating(type)) {
    line(sum + "[i] = " + (type == f64 ? "fma(" : "fmaf(") + x + ", " + y + ", " + sum + "[i]);");
  } else {
    line(sum + "[i] = i32(u32(" + sum + "[i]) + u32(" + x + " * " + y + "));");
  }
  close();
  close();
  open_values(of.values());
  line(out.name + "[i] = " + stored_text(sum + "[i]", type) + ";");
  close();
}

}  // namespace tilejit::program
