#include "program/kernel_writer.hpp"

#include <algorithm>

#include "program/kernel_text.hpp"

namespace tilejit::program {
namespace {

constexpr std::size_t kMostOfName = 40;  // characters of a tile's name in the text

constexpr const char* kShared =
    "  extern __shared__ __align__(128) unsigned char shared_memory[];\n";

}  // namespace

std::string short_name(const std::string& name) {
  return name.substr(0, kMostOfName);
}

KernelWriter::KernelWriter(KernelPlan& plan) : plan_(plan), views_(views_of(plan.code)) {
  if (plan.target.major >= 8) {
    for (const auto& [load, stages] : copies_ahead(plan.code)) ahead_.insert(load);
  }
  products_ = warp_products(plan.code, plan.target, plan.threads);
  for (const auto& place : plan.places) {
    if (!place) continue;
    tiles_bytes_ = std::max(tiles_bytes_, place->offset + place->bytes);
  }
  tiles_bytes_ = (tiles_bytes_ + 127) / 128 * 128;
}

void KernelWriter::line(const std::string& text) {
  const bool is_directive = text.starts_with('#');
  if (!is_directive) out_.append(static_cast<std::size_t>(2 * depth_), ' ');
  out_ += text + '\n';
}

void KernelWriter::lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    line(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

void KernelWriter::open(const std::string& text) {
  line(text);
  ++depth_;
}

void KernelWriter::close(const std::string& text) {
  --depth_;
  line(text);
}

void KernelWriter::open_values(std::int64_t values, std::int64_t by) {
  if (values == 1) {
    open("{");
    return line("constexpr int i = 0;");
  }
  line("#pragma unroll");
  open("for (int i = 0; i < " + std::to_string(values) + "; " +
       (by == 1 ? "++i" : "i += " + std::to_string(by)) + ") {");
}

KernelWriter::Array KernelWriter::array(int tile) const {
  return {"r" + std::to_string(tile) + "_" + short_name(slot(tile).name), slot(tile).type.dtype,
          *plan_.distributions[static_cast<std::size_t>(tile)]};
}

KernelWriter::Place KernelWriter::place(int tile) const {
  const SharedPlace& known = *plan_.places[static_cast<std::size_t>(tile)];
  const std::string number = std::to_string(tile);
  std::string pointer = "s" + number + "_" + short_name(slot(tile).name);
  if (known.buffers > 1) {
    pointer = "(" + pointer + " + buffer" + number + " * " + std::to_string(known.elements) + ")";
  }
  return {.pointer = pointer,
          .dtype = slot(tile).type.dtype,
          .shape = slot(tile).type.shape,
          .layout = known.layout,
          .object = tile};
}

void KernelWriter::wait_for_copies() {
  // In a loop that copies ahead no other copies are under way.
  if (!hazards_.copies_ahead() || pipelines_ > 0 || plan_.target.major < 8) return;
  headers_.insert("async_copy");
  line("async_copy_commit();");
  line("async_copy_wait<0>();");
}

void KernelWriter::meet() {
  wait_for_copies();
  line("__syncthreads();");
  hazards_.clear();
}

void KernelWriter::before_read(Hazards::Object object) {
  if (hazards_.read_waits(object)) meet();
}

void KernelWriter::before_write(Hazards::Object object) {
  if (hazards_.write_waits(object)) meet();
}

void KernelWriter::steps(const Steps& steps) {
  for (const Step& one : steps) step(one);
}

void KernelWriter::step(const Step& step) {
  static constexpr const char* kKinds[] = {"view",    "fill",    "load", "store", "move", "product",
                                           "compute", "reshape", "",     "",      "",     "",
                                           "atomic",  "",        "",     ""};
  static_assert(std::size(kKinds) == std::variant_size_v<Step::Kind>);
  at_ = &step;
  const std::string kind = kKinds[step.kind.index()];
  const auto number = expr::line_number(plan_.code.text, step.place.begin);
  if (kind.empty()) {
    std::visit([this](const auto& one) { write_step(one); }, step.kind);
    return;
  }
  const std::size_t before = out_.size();
  open("{  // line " + std::to_string(number) + ": " + kind);
  const std::size_t begin = out_.size();
  std::visit([this](const auto& one) { write_step(one); }, step.kind);
  close();
  const bool is_empty = out_.size() == begin + static_cast<std::size_t>(2 * depth_) + 2;
  if (is_empty) out_.resize(before);
}

void KernelWriter::write_step(const SetView& step) {
  const std::string name = "w" + std::to_string(step.view);
  line(name + "_offset = " + (step.offset ? integer(*step.offset) : "0") + ";");
  headers_.insert("math");
  std::string stride = "1";
  for (std::size_t i = step.shape.size(); i-- > 0;) {
    const std::string axis = std::to_string(i);
    line(name + "_extent" + axis + " = math::max<i64>(0, " + integer(step.shape[i]) + ");");
    line(name + "_stride" + axis + " = " +
         (step.stride.empty() ? stride : integer(step.stride[i])) + ";");
    stride = name + "_stride" + axis + " * " + name + "_extent" + axis;
  }
}

void KernelWriter::write_step(const Fill& step) {
  if (!step.value) return;
  const DType dtype = slot(step.tile).type.dtype;
  if (!is_shared(step.tile)) return write_step(Compute{.value = *step.value, .out = step.tile});
  Extents shape = slot(step.tile).type.shape;
  const Distribution of = copy_distribution(shape, plan_.threads, {});
  const Array values = declare(dtype, of);
  evaluate(*step.value, renamed(of, step.value->space), step.value->space, dtype,
           [&](const std::string& text) {
             line(values.name + "[i] = " + stored_text(text, dtype) + ";");
           });
  put(values, place(step.tile));
}

void KernelWriter::write_step(const Compute& step) {
  const Value& value = step.value;
  const Array out = array(step.out);
  const Extents& shape = out.spread.shape;
  const Distribution space = space_of(value, step.out);
  Extents wanted = value.space;
  const bool whole = count_of(wanted) == count_of(shape);
  if (!whole && !value.code.is_known()) {
    const auto shapes = shapes_of(value.code, value.space, plan_.code.tiles);
    wanted = shapes[static_cast<std::size_t>(value.code.value)];
  }
  const Distribution made = slice_of(space, wanted);
  const bool fits = count_of(wanted) == count_of(shape) && renamed(made, shape) == out.spread;
  const Array target = fits ? out : declare(out.dtype, made);
  evaluate(value, space, wanted, out.dtype, [&](const std::string& text) {
    line(target.name + "[i] = " + stored_text(text, out.dtype) + ";");
  });
  if (!fits) assign(target, step.out);
}

void KernelWriter::write_step(const SetScalar& step) {
  const DType type = plan_.code.scalars[static_cast<std::size_t>(step.scalar)];
  const std::string value = scalar(step.value);
  line("const " + std::string(expr::compute_type(type)) + " k" + std::to_string(step.scalar) +
       " = " + value + ";");
  if (!may_be_negative(step.value)) counts_up_.insert(step.scalar);
}

void KernelWriter::write_step(const WhileLoop& step) {
  const Hazards before = hazards_;
  hazards_.enter_loop(step.body, plan_.code);
  open("while (true) {");
  line("if (!(" + condition(step.condition) + ")) break;");
  steps(step.body);
  close();
  hazards_.join(before);
}

void KernelWriter::write_step(const Branch& step) {
  const expr::Expression& code = step.condition.code;
  if (code.is_known()) return steps(expr::is_true(code.literal) ? step.then : step.otherwise);
  if (step.per_thread && in_thread_ == 0) {
    stage_printed(step.then);
    stage_printed(step.otherwise);
  }
  in_thread_ += step.per_thread ? 1 : 0;
  const std::string taken = condition(step.condition);
  const Hazards before = hazards_;
  open("if (" + taken + ") {");
  steps(step.then);
  const Hazards after = std::exchange(hazards_, before);
  if (!step.otherwise.empty()) {
    close("} else {");
    ++depth_;
    steps(step.otherwise);
  }
  close();
  hazards_.join(after);
  in_thread_ -= step.per_thread ? 1 : 0;
  if (!step.per_thread || in_thread_ > 0) return;
  for (const auto& [tile, place] : printed_) hazards_.read(place.object);
  printed_.clear();
}

void KernelWriter::write_step(const Meet&) {
  meet();
}

void KernelWriter::warn(const std::string& sentence) {
  const auto number = expr::line_number(plan_.code.text, at_->place.begin);
  plan_.warnings.push_back("line " + std::to_string(number) + ": " + sentence);
}

std::string KernelWriter::block_text() const {
  const std::string& order = plan_.program->launch.order;
  if (order.empty() || order == "row") {
    return "  const i64 block_x = blockIdx.x, block_y = blockIdx.y, block_z = blockIdx.z;\n";
  }
  std::string text =
      "  const i64 block_z = blockIdx.z;\n"
      "  const u32 block = blockIdx.x + blockIdx.y * gridDim.x;\n";
  if (order == "column") {
    return text + "  const i64 block_x = block / gridDim.y, block_y = block % gridDim.y;\n";
  }
  const std::string rows = order.substr(order.find(':') + 1);
  return text + "  const u32 group = block / (" + rows + " * gridDim.x), first_row = group * " +
         rows + ";\n  const u32 rows = gridDim.y - first_row < " + rows +
         " ? gridDim.y - first_row : " + rows + ";\n  const i64 block_x = block % (" + rows +
         " * gridDim.x) / rows, block_y = first_row + block % (" + rows + " * gridDim.x) % rows;\n";
}

std::string KernelWriter::declarations() const {
  std::string text = "  const int tid = " + thread_text() + ";\n" + block_text();
  if (tiles_bytes_ + scratch_bytes_ + exchange_bytes_ > 0) text += kShared;
  for (std::size_t tile = 0; tile < plan_.places.size(); ++tile) {
    if (!plan_.places[tile]) continue;
    const TileSlot& own = plan_.code.tiles[tile];
    const std::string type(expr::storage_type(own.type.dtype));
    const std::string number = std::to_string(tile);
    text += "  " + type + "* const s" + number + "_" + short_name(own.name) +
            " = reinterpret_cast<" + type + "*>(shared_memory + " +
            std::to_string(plan_.places[tile]->offset) + ");  // " + to_string(own.type) + " in " +
            tilejit::to_string(plan_.places[tile]->layout) + "\n";
    if (plan_.places[tile]->buffers > 1) text += "  int buffer" + number + " = 0;\n";
  }
  if (scratch_bytes_ > 0) {
    text +=
        "  unsigned char* const scratch = shared_memory + " + std::to_string(tiles_bytes_) + ";\n";
  }
  for (int i = 0; exchange_bytes_ > 0 && i < 2; ++i) {
    text += "  unsigned char* const exchange" + std::to_string(i) + " = shared_memory + " +
            std::to_string(exchange_offset() + i * exchange_bytes_) + ";\n";
  }
  text += declarations_;
  for (std::size_t tile = 0; tile < plan_.distributions.size(); ++tile) {
    if (!plan_.distributions[tile]) continue;
    const Array own = array(static_cast<int>(tile));
    text += "  " + std::string(expr::storage_type(own.dtype)) + " " + own.name + "[" +
            std::to_string(own.spread.values()) + "];  // " + to_string(own.spread) + "\n";
  }
  for (std::size_t view = 0; view < views_.size(); ++view) {
    if (views_[view] == nullptr) continue;
    const std::string name = "w" + std::to_string(view);
    text += "  i64 " + name + "_offset = 0";
    for (std::size_t axis = 0; axis < plan_.code.views[view].rank; ++axis) {
      const std::string number = std::to_string(axis);
      text += ", " + name + "_extent" + number + " = 0, " + name + "_stride" + number + " = 0";
    }
    text += ";\n";
  }
  return text;
}

std::string KernelWriter::thread_text() const {
  const auto& numbers = plan_.code.shape.numbers;
  const std::int64_t x = numbers[operation::LaunchShape::block].evaluate();
  if (plan_.threads == x) return "threadIdx.x";
  return "threadIdx.x + " + std::to_string(x) + " * (threadIdx.y + " +
         std::to_string(numbers[operation::LaunchShape::block + 1].evaluate()) + " * threadIdx.z)";
}

std::string KernelWriter::parameters() const {
  if (plan_.params.empty()) return {};
  std::string text = "struct Params {\n";
  for (const operation::Param& param : plan_.params) {
    switch (param.kind) {
      case operation::Param::Kind::pointer: {
        const Tensor& tensor = plan_.signature.tensors[static_cast<std::size_t>(param.index)];
        text += "  " + std::string(tensor.access == Access::in ? "const " : "") +
                std::string(expr::storage_type(tensor.dtype)) + "* " + param.name + ";  // " +
                tensor.name + "\n";
        break;
      }
      case operation::Param::Kind::scalar:
        text += "  " + std::string(expr::compute_type(param.dtype)) + ' ' + param.name + ";\n";
        break;
      case operation::Param::Kind::workspace: text += "  u32* " + param.name + ";\n"; break;
      default: text += "  i64 " + param.name + ";  // " + to_string(param.dim) + "\n"; break;
    }
  }
  return text + "};\nstatic_assert(sizeof(Params) == " + std::to_string(plan_.params_bytes) +
         ", \"the host packs the same bytes\");\n";
}

void KernelWriter::write() {
  for (const Tensor& tensor : plan_.signature.tensors) (void)storage(tensor.dtype);
  for (const TileSlot& tile : plan_.code.tiles) (void)storage(tile.type.dtype);
  steps(plan_.code.body);
  add_function_headers(out_, headers_);
  headers_.insert({"dependent", "types"});
  std::string text = "// Generated by libtilejit from a tile program.\n";
  for (const std::string& header : headers_) text += "#include \"tile/" + header + ".cuh\"\n";
  text += "using namespace tile;\n\n" + types_ + parameters();
  if (!plan_.assertions.empty()) {
    text += "extern \"C\" {\n__device__ u64* " + plan_.assertion_words() +
            ";  // set when the kernel is loaded\n}\n";
  }
  text += "\nextern \"C\" __global__ void __launch_bounds__(" + std::to_string(plan_.threads);
  if (plan_.program->launch.min_blocks > 0) {
    text += ", " + std::to_string(plan_.program->launch.min_blocks);
  }
  text += ")\n    " + plan_.entry +
          (plan_.params.empty() ? "() {\n" : "(const __grid_constant__ Params p) {\n") +
          "  follow_previous_kernel();\n" + declarations() + out_ + "}\n";
  plan_.text = std::move(text);
  plan_.shared_bytes =
      exchange_bytes_ > 0 ? exchange_offset() + 2 * exchange_bytes_ : tiles_bytes_ + scratch_bytes_;
}

}  // namespace tilejit::program
