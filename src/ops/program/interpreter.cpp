// Running a program: arguments, blocks, statements.
#include "program/interpreter.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "arithmetic/convert.hpp"
#include "core/scalar_value.hpp"
#include "program/check.hpp"
#include "program/evaluate.hpp"
#include "program/source.hpp"

namespace tilejit::program {
namespace {

using operation::LaunchShape;

constexpr std::int64_t kAskEvery = 1'000'000;  // operations between two questions to `interrupted`

/// The coordinate of item `number` along x, y, z.
std::array<std::int64_t, 3> coordinate(std::int64_t number,
                                       const std::array<std::int64_t, 3>& extents) {
  return {number % extents[0], number / extents[0] % extents[1], number / extents[0] / extents[1]};
}

std::array<std::int64_t, 3> three(const std::vector<ScalarData>& scalars, int first) {
  std::array<std::int64_t, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    values[i] = scalars[static_cast<std::size_t>(first) + i].integer;
  }
  return values;
}

}  // namespace

Interpreter::Interpreter(const TileProgram& program, const Code& code, const HostArguments& args,
                         const InterpretOptions& options)
    : program_(program), code_(code), args_(args), options_(options) {}

void Interpreter::fail(ErrorCode error, const std::string& message) const {
  std::string where = "program: ";
  if (at_ != nullptr) {
    where = "program line " +
            std::to_string(expr::line_number(std::string_view(code_.text), at_->place.begin)) +
            ": ";
  }
  throw Error(error, where + message);
}

void Interpreter::check_arguments() const {
  const auto check_count = [](std::size_t got, std::size_t want, const char* kind) {
    if (got == want) return;
    throw Error(ErrorCode::invalid_argument,
                "the operation has " + std::to_string(want) + " " + kind + ", but " +
                    std::to_string(got) + " were given; pass one value for each",
                "/" + std::string(kind));
  };
  check_count(args_.tensors.size(), program_.tensors.size(), "tensors");
  check_count(args_.scalars.size(), program_.scalars.size(), "scalars");
  for (std::size_t i = 0; i < program_.scalars.size(); ++i) {
    core::check_scalar(program_.scalars[i].name, program_.scalars[i].dtype, args_.scalars[i]);
  }
  for (const auto& [name, divisor] : code_.divisors) {
    const auto found = args_.symbols.find(name);
    const bool good =
        found != args_.symbols.end() && found->second >= 0 && found->second % divisor == 0;
    if (good) continue;
    throw Error(ErrorCode::invalid_argument,
                "the symbol '" + name + "' needs a value from 0" +
                    (divisor == 1 ? "" : ", a multiple of " + std::to_string(divisor)) +
                    "; give it one",
                "/symbols/" + name);
  }
}

void Interpreter::set_arguments() {
  scalars_.assign(code_.scalars.size(), {});
  for (std::size_t i = 0; i < code_.symbols.size(); ++i) {
    const std::int64_t value = args_.symbols.find(code_.symbols[i])->second;
    scalars_[static_cast<std::size_t>(code_.first_symbol) + i] = {value, 0};
  }
  for (std::size_t i = 0; i < program_.scalars.size(); ++i) {
    ScalarData& data = scalars_[static_cast<std::size_t>(code_.first_scalar) + i];
    const DType dtype = program_.scalars[i].dtype;
    if (is_floating(dtype)) {
      // Scalars come in their compute type.
      data.real = dtype == f64 ? args_.scalars[i].to<double>()
                               : static_cast<double>(args_.scalars[i].to<float>());
    } else {
      data.integer = args_.scalars[i].bits();
    }
  }
  views_.assign(code_.views.size(), {});
  for (std::size_t t = 0; t < program_.tensors.size(); ++t) {
    const Layout& layout = program_.tensors[t].layout;
    const std::size_t axes = rank(layout);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      auto& leaves = views_[t].axes.emplace_back();
      const Layout own = mode(layout, axis);
      for (const Mode& leaf : own.leaves()) {
        leaves.push_back(
            {leaf.extent.evaluate(args_.symbols), leaf.stride.evaluate(args_.symbols)});
      }
    }
    std::int64_t last = 0;
    bool empty = false;
    for (const Mode& leaf : layout.leaves()) {
      const std::int64_t extent = leaf.extent.evaluate(args_.symbols);
      empty = empty || extent == 0;
      last += (extent - 1) * leaf.stride.evaluate(args_.symbols);
    }
    cosizes_.push_back(empty ? 0 : last + 1);
    if (cosizes_.back() > 0 && args_.tensors[t] == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  "tensor '" + program_.tensors[t].name + "' is null; pass its host memory",
                  "/tensors/" + program_.tensors[t].name);
    }
  }
}

void Interpreter::zero_tensors() {
  for (const std::string& name : program_.zeroed) {
    const auto found = std::ranges::find(program_.tensors, name, &Tensor::name);
    const auto t = static_cast<std::size_t>(found - program_.tensors.begin());
    // Element by element: what lies between the elements is not the program's.
    const Window whole{.view = static_cast<int>(t)};
    std::vector<ViewData::Leaf> leaves;
    for (const auto& axis : views_[t].axes) leaves.insert(leaves.end(), axis.begin(), axis.end());
    std::int64_t count = 1;
    for (const ViewData::Leaf& leaf : leaves) count *= leaf.extent;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i;
      std::int64_t offset = 0;
      for (const ViewData::Leaf& leaf : leaves) {
        offset += rest % leaf.extent * leaf.stride;
        rest /= leaf.extent;
      }
      encode(found->dtype, 0, element(whole.view, offset));
    }
  }
}

void Interpreter::run() {
  check_arguments();
  std::int64_t bytes = 0;
  for (const TileSlot& slot : code_.tiles) bytes += 8 * count_of(slot.type.shape);
  if (bytes > options_.max_memory) {
    throw Error(ErrorCode::unsupported,
                "the tiles of a block take " + std::to_string(bytes) + " bytes, more than the " +
                    std::to_string(options_.max_memory) +
                    " that are allowed; use smaller tiles, or raise max_memory");
  }
  set_arguments();
  zero_tensors();
  std::array<std::int64_t, LaunchShape::kCount> numbers{};
  for (std::size_t i = 0; i < LaunchShape::kCount; ++i) {
    std::vector<std::int64_t> values;
    for (const std::string& name : code_.shape.numbers[i].names()) {
      values.push_back(args_.symbols.find(name)->second);
    }
    numbers[i] = code_.shape.numbers[i].evaluate(values);
    if (operation::is_empty_launch(code_.shape, i, numbers[i])) return;
    operation::check_launch_number(code_.shape, i, numbers[i]);
  }
  operation::check_launch_numbers(code_.shape, numbers.data());
  for (std::size_t i = 0; i < 3; ++i) {
    scalars_[kGridDim + i].integer = numbers[LaunchShape::grid + i];
    scalars_[kBlockDim + i].integer = numbers[LaunchShape::block + i];
  }
  const std::array<std::int64_t, 3> grid = three(scalars_, kGridDim);
  const std::int64_t blocks = count_of({grid[0], grid[1], grid[2]});
  for (block_ = 0; block_ < blocks; ++block_) {
    const auto at = coordinate(block_, grid);
    for (std::size_t i = 0; i < 3; ++i) scalars_[kBlockIdx + i].integer = at[i];
    block();
  }
}

void Interpreter::block() {
  tiles_.assign(code_.tiles.size(), {});
  count(1);
  steps(code_.body);
}

void Interpreter::count(std::int64_t operations) {
  operations_ += operations;
  since_asked_ += operations;
  if (operations_ > options_.max_operations) {
    fail(ErrorCode::unsupported, "the program did more than " +
                                     std::to_string(options_.max_operations) +
                                     " operations; use smaller sizes, or raise max_operations");
  }
  if (since_asked_ < kAskEvery) return;
  since_asked_ = 0;
  if (options_.interrupted && options_.interrupted()) {
    fail(ErrorCode::cancelled, "interrupted");
  }
}

void Interpreter::steps(const Steps& steps) {
  for (const Step& one : steps) step(one);
}

void Interpreter::step(const Step& step) {
  at_ = &step;
  if (++statements_ > options_.max_statements) {
    fail(ErrorCode::unsupported, "the program ran more than " +
                                     std::to_string(options_.max_statements) +
                                     " statements; use smaller sizes, or raise max_statements");
  }
  count(100);  // what a statement costs besides its elements
  std::visit([this](const auto& one) { run_step(one); }, step.kind);
}

TileData Interpreter::evaluate(const Value& value) {
  const auto scalar_data = [&](int slot) {
    TileData data({code_.scalars[static_cast<std::size_t>(slot)], {}});
    const ScalarData& from = scalars_[static_cast<std::size_t>(slot)];
    if (data.is_real()) {
      data.reals[0] = from.real;
    } else {
      data.integers[0] = from.integer;
    }
    return data;
  };
  const Evaluation::Tile tile_data = [&](int slot) -> const TileData& { return tile(slot); };
  const Evaluation::Scalar scalar_source = scalar_data;
  Evaluation evaluation(value, code_.tiles, tile_data, scalar_source);
  TileData result = evaluation.run();
  count(evaluation.operations());
  return result;
}

ScalarData Interpreter::scalar(const Value& value) {
  const TileData data = evaluate(value);
  if (data.is_real()) return {0, data.reals[0]};
  return {data.integers[0], 0};
}

bool Interpreter::condition(const Value& value) {
  const TileData data = evaluate(value);
  return data.is_real() ? data.reals[0] != 0 : data.integers[0] != 0;
}

void Interpreter::run_step(const SetScalar& step) {
  const Step* const at = at_;
  scalars_[static_cast<std::size_t>(step.scalar)] = scalar(step.value);
  at_ = at;
  if (options_.trace && block_ == options_.traced) {
    const TileData data = evaluate(step.value);
    trace(element_text(data, 0));
  }
}

void Interpreter::run_step(const Loop& step) {
  const Step* const at = at_;
  const std::int64_t begin = integer(step.begin);
  const std::int64_t end = integer(step.end);
  const std::int64_t by = integer(step.step);
  if (by <= 0) fail(ErrorCode::invalid_argument, "the step of the loop is not positive");
  std::int64_t i = begin;
  while (i < end) {
    scalars_[static_cast<std::size_t>(step.scalar)].integer = i;
    steps(step.body);
    at_ = at;
    count(100);
    if (__builtin_add_overflow(i, by, &i)) break;
  }
}

void Interpreter::run_step(const WhileLoop& step) {
  const Step* const at = at_;
  while (condition(step.condition)) {
    steps(step.body);
    at_ = at;
    count(100);
    if (++statements_ > options_.max_statements) {
      fail(ErrorCode::unsupported,
           "the loop did not end after " + std::to_string(options_.max_statements) + " statements");
    }
  }
}

void Interpreter::run_step(const Branch& step) {
  const Step* const at = at_;
  if (!step.per_thread) {
    steps(condition(step.condition) ? step.then : step.otherwise);
    return;
  }
  const std::array<std::int64_t, 3> extents = three(scalars_, kBlockDim);
  const std::int64_t threads = extents[0] * extents[1] * extents[2];
  for (std::int64_t tid = 0; tid < threads; ++tid) {
    const auto thread = coordinate(tid, extents);
    for (std::size_t i = 0; i < 3; ++i) scalars_[kThreadIdx + i].integer = thread[i];
    scalars_[kTid].integer = tid;
    steps(condition(step.condition) ? step.then : step.otherwise);
    at_ = at;
  }
}

void Interpreter::run_step(const PrintText& step) {
  std::string text;
  std::size_t begin = 0;
  for (const auto& argument : step.arguments) {
    const std::size_t place = step.text.find("{}", begin);
    text += step.text.substr(begin, place - begin);
    begin = place + 2;
    if (const int* const slot = std::get_if<int>(&argument)) {
      text += to_string(tile(*slot));
    } else {
      text += element_text(evaluate(std::get<Value>(argument)), 0);
    }
  }
  text += step.text.substr(begin);
  if (options_.print) options_.print(text);
}

void Interpreter::run_step(const Check& step) {
  if (condition(step.condition)) return;
  const auto block = three(scalars_, kBlockIdx);
  fail(ErrorCode::invalid_argument, "the assertion does not hold in block (" +
                                        std::to_string(block[0]) + ", " + std::to_string(block[1]) +
                                        ", " + std::to_string(block[2]) + ")" +
                                        (step.message.empty() ? "" : ": " + step.message));
}

std::string Interpreter::line_text() const {
  const std::string_view text = code_.text;
  const TilePlace& place = at_->place;
  const std::size_t end = std::min(text.find('\n', place.begin), place.end);
  return "line " + std::to_string(expr::line_number(text, place.begin)) + ": " +
         std::string(text.substr(place.begin, end - place.begin));
}

void Interpreter::trace(const std::string& what) {
  options_.trace(line_text() + "\n    " + what);
}

void Interpreter::trace_tile(int slot) {
  if (!options_.trace || block_ != options_.traced) return;
  const TileSlot& of = code_.tiles[static_cast<std::size_t>(slot)];
  trace(of.name + ": " + to_string(of.type) + " = " + to_string(tile(slot)));
}

}  // namespace tilejit::program

namespace tilejit {

void interpret(const TileProgram& made, const HostArguments& args,
               const InterpretOptions& options) {
  const program::Code code = program::check(made, made.tuning);
  program::Interpreter(made, code, args, options).run();
}

}  // namespace tilejit
