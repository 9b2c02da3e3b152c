#include <algorithm>
#include <array>

#include "support/program_case.hpp"

namespace tilejit::test {
namespace {

using Extents = std::vector<int>;

struct Tile {
  std::string name;
  DType dtype = f32;
  Extents shape;
  bool is_shared = false;
};

/// Writes statements over the tiles that it has made so far.
class ProgramMaker {
 public:
  explicit ProgramMaker(Random& random) : random_(random) {}

  ProgramCase make() {
    static constexpr std::array kTypes = {f32, f32, bf16, i32, i64, f64, i8, u32};
    dtype_ = kTypes[static_cast<std::size_t>(below(kTypes.size()))];
    const int m = 1 + below(70), n = 1 + below(70), k = 1 + below(200);
    made_.symbols = {{"M", m}, {"N", n}, {"K", k}};
    static constexpr std::array kThreads = {32, 64, 128, 128, 96, 256};
    threads_ = kThreads[static_cast<std::size_t>(below(kThreads.size()))];
    const int first = 1 + below(3);
    for (int i = 0; i < first; ++i) load();
    const int count = 2 + below(7);
    for (int i = 0; i < count; ++i) statement(true);
    const int outputs = 1 + below(2);
    for (int i = 0; i < outputs; ++i) store(i);
    if (chance(25)) atomic();
    return finish();
  }

 private:
  int below(std::size_t count) { return static_cast<int>(random_() % count); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  T one_of(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(below(items.size()))];
  }
  std::string fresh() { return "x" + std::to_string(names_++); }
  void line(const std::string& text) { body_ += indent_ + text + '\n'; }
  int extent() { return one_of<int>({1, 2, 3, 4, 5, 7, 8, 16, 16, 17, 32, 33, 40}); }
  static std::string list(const Extents& extents) {
    std::string text;
    for (const int one : extents) text += (text.empty() ? "" : ", ") + std::to_string(one);
    return text;
  }
  static int count_of(const Extents& extents) {
    int count = 1;
    for (const int one : extents) count *= one;
    return count;
  }
  std::string type_name(DType dtype) const { return std::string(to_string(dtype)); }
  const Tile& any() { return tiles_[static_cast<std::size_t>(below(tiles_.size()))]; }

  /// A window of A (M, N), B (K) or C (N, M) with strides.
  void load() {
    const int which = below(3);
    Tile tile{.name = fresh(), .dtype = dtype_, .shape = {}, .is_shared = chance(35)};
    std::string text = "Copy ";
    if (which == 1) {
      tile.shape = {extent() * one_of<int>({1, 1, 4, 16})};
      text += "B (" + list(tile.shape) + ") " +
              one_of<std::string>({"in coordinate [L = block_idx.x]", "in coordinate [block_idx.x]",
                                   "at [block_idx.x * 3]", "at [block_idx.x * 5 - 2]",
                                   "in indices [iota(0) * 2 + block_idx.x]"});
    } else {
      const bool ordered = chance(25);
      tile.shape = {extent(), extent()};
      const std::string place = one_of<std::string>(
          {"in coordinate [block_idx.x, 0]", "in coordinate [0, block_idx.x]",
           "in coordinate [L = block_idx.x]", "at [block_idx.x, 2]", "at [3, block_idx.x * 4]",
           "in indices [iota(0) + block_idx.x, iota(1) * 2]", "at [block_idx.x * 2 - 1, -1]"});
      text += std::string(which == 0 ? "A" : "C") + " (" + list(tile.shape) + ") " + place;
      const bool gathers = place.find("indices") != place.npos;
      after_ = ordered ? " order (1, 0)" : "";
      if (chance(15) && !gathers) after_ += " mask iota(0) + iota(1) < 9";
    }
    text += " from global to " + std::string(tile.is_shared ? "shared" : "register") + " as " +
            tile.name + " pad " + one_of<std::string>({"zero", "one"}) + after_;
    after_.clear();
    line(text);
    tiles_.push_back(tile);
  }

  void statement(bool may_nest) {
    switch (below(may_nest ? 13 : 10)) {
      case 0: return load();
      case 1:
      case 2: return elementwise();
      case 3: return reduce();
      case 4: return scan();
      case 5: return reshape();
      case 6: return part();
      case 7: return move();
      case 8: return product();
      case 9: return outer();
      case 10: return loop();
      case 11: return branch();
      default: return accumulate();
    }
  }

  /// The value kept from -8 to 8.
  std::string small(const std::string& value) const {
    const bool is_unsigned = dtype_ == u32;
    return is_unsigned ? "min(" + value + ", 8)" : "clamp(" + value + ", -8, 8)";
  }

  std::string operation(const std::string& a, const std::string& b) {
    switch (below(dtype_ == u32 ? 5 : 7)) {
      case 0: return a + " + " + b;
      case 1: return a + " * " + b;
      case 2: return "min(" + a + ", " + b + ")";
      case 3: return "max(" + a + ", " + b + ")";
      case 4: return "where(" + a + " < " + b + ", " + b + ", " + a + ")";
      case 5: return a + " - " + b;
      default: return "abs(" + a + ")" + " - " + b;
    }
  }

  void elementwise() {
    const Tile a = any();
    Tile b = a;
    for (const Tile& other : tiles_) {
      if (broadcasts(other.shape, a.shape) && other.dtype == a.dtype && chance(50)) b = other;
    }
    if (a.dtype != dtype_) return;
    std::string text = operation(a.name, b.name);
    if (chance(20))
      text += " + cast(iota(" + std::to_string(below(a.shape.size())) + "), " + type_name(dtype_) +
              ") % 3";
    Tile made{fresh(), dtype_, a.shape};
    line("Compute " + made.name + " = " + small(text));
    tiles_.push_back(made);
  }

  static bool broadcasts(const Extents& from, const Extents& to) {
    if (from.size() > to.size()) return false;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const int own = from[from.size() - 1 - i];
      if (own != 1 && own != to[to.size() - 1 - i]) return false;
    }
    return true;
  }

  void reduce() {
    const Tile a = any();
    if (a.dtype != dtype_) return;
    const int axis = below(a.shape.size());
    const std::string kind = one_of<std::string>({"Sum", "Max", "Min", "Argmax", "Argmin", "Sum"});
    const bool places = kind.starts_with("Arg");
    const bool all = chance(15);
    const bool keeps = chance(70) || all || a.shape.size() == 1;
    Tile made{fresh(), dtype_, a.shape};
    if (all) {
      made.shape.assign(a.shape.size(), 1);
    } else if (keeps) {
      made.shape[static_cast<std::size_t>(axis)] = 1;
    } else {
      made.shape.erase(made.shape.begin() + axis);
    }
    const std::string result = fresh();
    line("Compute Reduce" + kind + " " + a.name + (all ? "" : " axis " + std::to_string(axis)) +
         (keeps ? "" : " keepdims false") + " and get " + result);
    const std::string value = places ? result + " % 8" : small(result);
    line("Compute " + made.name + " = cast(" + value + ", " + type_name(dtype_) + ")");
    tiles_.push_back(made);
  }

  void scan() {
    const Tile a = any();
    if (a.dtype != dtype_) return;
    const std::string result = fresh();
    line("Compute Scan" + one_of<std::string>({"Sum", "Max", "Min"}) + " " + a.name + " axis " +
         std::to_string(below(a.shape.size())) + (chance(30) ? " reverse" : "") + " and get " +
         result);
    Tile made{fresh(), dtype_, a.shape};
    line("Compute " + made.name + " = cast(" + small(result) + ", " + type_name(dtype_) + ")");
    tiles_.push_back(made);
  }

  void reshape() {
    const Tile a = any();
    Tile made{fresh(), a.dtype, a.shape};
    if (a.shape.size() == 2 && chance(60)) {
      std::swap(made.shape[0], made.shape[1]);
      line("Reshape " + a.name + " permute (1, 0) as " + made.name);
    } else {
      made.shape = {count_of(a.shape)};
      for (const int factor : {2, 3, 5}) {
        if (made.shape[0] % factor == 0 && chance(70)) {
          made.shape = {factor, made.shape[0] / factor};
          break;
        }
      }
      line("Reshape " + a.name + " to (" + list(made.shape) + ") as " + made.name);
    }
    tiles_.push_back(made);
  }

  void part() {
    const Tile a = any();
    Tile made{fresh(), a.dtype, a.shape};
    std::string at;
    for (int& one : made.shape) {
      const int size = 1 + below(static_cast<std::size_t>(one));
      at += (at.empty() ? "" : ", ") +
            std::to_string(below(static_cast<std::size_t>(one - size + 1)));
      one = size;
    }
    line("Reshape " + a.name + " extract (" + list(made.shape) + ") at [" + at + "] as " +
         made.name);
    tiles_.push_back(made);
    if (chance(50)) {
      const Tile whole{fresh(), a.dtype, a.shape};
      line("Reshape " + a.name + " insert " + made.name + " at [" + at + "] as " + whole.name);
      tiles_.push_back(whole);
    } else if (chance(50) && count_of(a.shape) < 2000) {
      Tile both{fresh(), a.dtype, a.shape};
      const int axis = below(a.shape.size());
      Tile other = a;
      both.shape[static_cast<std::size_t>(axis)] *= 2;
      line("Reshape " + a.name + " cat " + other.name + " axis " + std::to_string(axis) + " as " +
           both.name);
      tiles_.push_back(both);
    }
  }

  void move() {
    const Tile a = any();
    Tile made = a;
    made.name = fresh();
    made.is_shared = !a.is_shared;
    const auto space = [](bool shared) { return std::string(shared ? "shared" : "register"); };
    line("Copy " + a.name + " from " + space(a.is_shared) + " to " + space(made.is_shared) +
         " as " + made.name);
    tiles_.push_back(made);
  }

  /// Products of small integers are exact.
  void product() {
    if (dtype_ != f32 && dtype_ != f64 && dtype_ != bf16 && dtype_ != i8) return;
    const DType sums = dtype_ == bf16 ? f32 : dtype_ == i8 ? i32 : dtype_;
    for (const Tile& a : tiles_) {
      for (const Tile& b : tiles_) {
        if (a.shape.size() != 2 || b.shape.size() != 2) continue;
        if (a.dtype != dtype_ || b.dtype != dtype_ || chance(50)) continue;
        const bool straight = a.shape[1] == b.shape[0];
        const bool turned = a.shape[1] == b.shape[1];
        if (!straight && !turned) continue;
        const int n = straight ? b.shape[1] : b.shape[0];
        const std::string sum = fresh();
        line("Allocate " + sum + " in register (" + list({a.shape[0], n}) +
             ") : " + type_name(sums) + " = 1");
        line("Compute GEMM " + a.name + ", " + b.name + (straight ? "" : ".T") + " and " +
             one_of<std::string>({"get ", "accumulate "}) + sum);
        Tile made{fresh(), dtype_, {a.shape[0], n}};
        line("Compute " + made.name + " = cast(" + small(sum) + ", " + type_name(dtype_) + ")");
        tiles_.push_back(made);
        return;
      }
    }
  }

  /// Tiles of which none has the shape of the result.
  void outer() {
    const Tile a = any();
    if (a.shape.size() != 2 || a.dtype != dtype_) return;
    const std::string rows = fresh();
    const std::string columns = fresh();
    line("Compute ReduceMax " + a.name + " axis 1 and get " + rows);
    line("Compute ReduceMin " + a.name + " axis 0 and get " + columns);
    Tile made{fresh(), dtype_, a.shape};
    line("Compute " + made.name + " = " + small(rows + " + " + columns));
    tiles_.push_back(made);
  }

  /// A loop over tiles of a tensor, some of them copied ahead.
  void accumulate() {
    const int width = one_of<int>({4, 8, 16, 24});
    const int rows = one_of<int>({4, 8, 16});
    const std::string sum = fresh();
    const std::string part = fresh();
    const std::string index = fresh();
    line("Allocate " + sum + " in register (" + list({rows, width}) + ") : " + type_name(dtype_) +
         " = 0");
    line("for " + index + " = 0 : ceil_div(N, " + std::to_string(width) + ")" +
         (chance(60) ? " stages " + std::to_string(2 + below(3)) : ""));
    line("  Copy A (" + list({rows, width}) + ") in coordinate [block_idx.x, " + index +
         "] from global to shared as " + part + " pad zero");
    line("  Compute " + sum + " = " + small(sum + " + " + part));
    if (chance(40)) {
      const std::string flipped = fresh();
      line("  Compute ScanSum " + part + " axis 1 and get " + flipped);
      line("  Compute " + sum + " = cast(" +
           small(sum + " + cast(" + small(flipped) + ", " + type_name(dtype_) + ")") + ", " +
           type_name(dtype_) + ")");
    }
    line("end");
    tiles_.push_back({sum, dtype_, {rows, width}});
  }

  void nested(int count) {
    const std::size_t outside = tiles_.size();
    indent_ += "  ";
    for (int i = 0; i < count; ++i) statement(false);
    // What is made inside ends there: one tile from outside takes a result.
    for (std::size_t i = outside; i < tiles_.size(); ++i) {
      for (std::size_t j = 0; j < outside; ++j) {
        if (tiles_[i].shape != tiles_[j].shape || tiles_[i].dtype != tiles_[j].dtype) continue;
        if (tiles_[j].is_shared) continue;
        line("Compute " + tiles_[j].name + " = " + small(tiles_[i].name + " + " + tiles_[j].name));
        i = tiles_.size() - 1;
        break;
      }
    }
    tiles_.resize(outside);
    indent_.resize(indent_.size() - 2);
  }

  void loop() {
    line("for " + fresh() + " = " +
         one_of<std::string>({"0 : 2", "0 : 3", "1 : 6 step 2", "0 : 0", "0 : min(M, 3)"}));
    nested(1 + below(3));
    line("end");
  }

  void branch() {
    line("if " + one_of<std::string>({"block_idx.x == 0", "M > 20", "block_idx.x * 2 < N"}));
    nested(1 + below(2));
    if (chance(50)) {
      line("else");
      nested(1 + below(2));
    }
    line("end");
  }

  void store(int number) {
    const Tile tile = any();
    const std::string name = "O" + std::to_string(number);
    Extents all = tile.shape;
    all[0] *= kBlocks;
    std::string place = "block_idx.x";
    for (std::size_t i = 1; i < tile.shape.size(); ++i) place += ", 0";
    header_ += "Tensor " + name + " : " + type_name(tile.dtype) + " [" + list(all) + "] inout\n";
    line("Copy " + tile.name + " (" + list(tile.shape) + ") in coordinate [" + place + "] from " +
         (tile.is_shared ? "shared" : "register") + " to global as " + name +
         (chance(15) ? " mask iota(0) % 2 == 0" : ""));
  }

  void atomic() {
    if (dtype_ != f32 && dtype_ != i32 && dtype_ != i64 && dtype_ != f64 && dtype_ != bf16) return;
    const Tile tile = any();
    header_ += "Tensor S : " + type_name(tile.dtype) + " [" + list(tile.shape) + "] inout\n";
    if (tile.dtype != dtype_) {
      header_.resize(header_.rfind("Tensor S"));
      return;
    }
    std::string place = "0";
    for (std::size_t i = 1; i < tile.shape.size(); ++i) place += ", 0";
    line("Atomic add " + tile.name + " (" + list(tile.shape) + ") at [" + place + "] as S");
  }

  static constexpr int kBlocks = 3;

  ProgramCase finish() {
    const std::string type = type_name(dtype_);
    std::string text = "Kernel random\n";
    for (const auto& [name, declared] : {std::pair("A", " [M, N]\n"), std::pair("B", " [K]\n"),
                                         std::pair("C", " [N, M] stride [1, N]\n")}) {
      if (body_.find("Copy " + std::string(name) + " ") == body_.npos) continue;
      text += "Tensor " + std::string(name) + " : " + type + declared;
    }
    // Symbols that only expressions use need a tensor, too.
    text += "Tensor Z : " + type + " [M, N, K] stride [0, 0, 0] inout\n";
    text += header_ + "Grid (" + std::to_string(kBlocks) + ")\nBlock (" + std::to_string(threads_) +
            ")\n\n" + body_ + "Allocate zero in register (1, 1, 1) : " + type + " = 0\n" +
            "Copy zero (1, 1, 1) in coordinate [0, 0, 0] from register to global as Z\n";
    made_.text = std::move(text);
    return std::move(made_);
  }

  Random& random_;
  DType dtype_ = f32;
  int threads_ = 128;
  int names_ = 0;
  std::string header_, body_, indent_, after_;
  std::vector<Tile> tiles_;
  ProgramCase made_;
};

}  // namespace

ProgramCase random_program_case(Random& random) {
  // A program that the checks refuse says nothing about kernels.
  for (;;) {
    ProgramCase made = ProgramMaker(random).make();
    try {
      validate(Operation(parse_program(made.text)));
      return made;
    } catch (const Error&) {
    }
  }
}

}  // namespace tilejit::test
