#include "program/scope.hpp"

#include <algorithm>

#include "core/suggestion.hpp"
#include "expr/names.hpp"
#include "program/style.hpp"
#include "program/tl_cursor.hpp"

namespace tilejit::program {
namespace {

using expr::Operand;

expr::Weak weak_of(const Number& number) {
  if (!number.is_integer()) return number.to<double>();
  if (number.exceeds_i64()) return expr::WideInt{static_cast<std::uint64_t>(number.bits())};
  return expr::WideInt{number.bits()};
}

constexpr std::string_view kBuiltinNames[] = {
    "block_idx.x",  "block_idx.y",  "block_idx.z", "grid_dim.x",  "grid_dim.y",
    "grid_dim.z",   "block_dim.x",  "block_dim.y", "block_dim.z", "thread_idx.x",
    "thread_idx.y", "thread_idx.z", "tid"};

}  // namespace

Scope::Scope(const TileProgram& program, const std::vector<TileConstant>& constants,
             const expr::FunctionTable& functions, const Source& source, Code& code)
    : program_(program), functions_(functions), source_(source), code_(code) {
  for (const TileConstant& constant : constants) {
    scalars_[constant.name] = {.known = weak_of(constant.value)};
  }
  code.scalars.assign(kBuiltins, i64);
  for (const auto& [name, divisor] : code.divisors) {
    scalars_[name] = {.slot = static_cast<int>(code.scalars.size())};
    code.symbols.push_back(name);
    code.scalars.push_back(i64);
  }
  code.first_scalar = static_cast<int>(code.scalars.size());
  for (const tilejit::Scalar& scalar : program.scalars) {
    scalars_[scalar.name] = {.slot = static_cast<int>(code.scalars.size())};
    code.scalars.push_back(scalar.dtype);
  }
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& tensor = program.tensors[i];
    ViewBinding view{.slot = static_cast<int>(i)};
    const std::size_t rank_of = rank(tensor.layout);
    for (std::size_t axis = 0; axis < rank_of; ++axis) {
      const Dim extent = product(mode(tensor.layout, axis).shape());
      view.multiples.push_back(program::multiple_of(extent, code));
      view.extents.push_back(extent.is_known() ? "" : tilejit::to_string(extent));
      view.known.push_back(extent.is_known() ? std::optional(extent.value()) : std::nullopt);
    }
    code.views.push_back({tensor.name, static_cast<int>(i), rank_of});
    views_.emplace(tensor.name, std::move(view));
  }
}

void Scope::open(std::size_t place) {
  opened_.push_back(place);
}

void Scope::close() {
  const std::size_t ended = opened_.size();
  for (auto& [name, tiles] : tiles_) {
    for (std::optional<TileBinding>* one : {&tiles.shared, &tiles.registers}) {
      if (!*one || (*one)->level < ended) continue;
      one->reset();
      ended_[name] = opened_.back();
    }
  }
  std::erase_if(scalars_, [&](const auto& one) {
    if (one.second.level < ended) return false;
    ended_[one.first] = opened_.back();
    return true;
  });
  opened_.pop_back();
}

int Scope::tensor_index(std::string_view name) const {
  const auto found = std::ranges::find(program_.tensors, name, &Tensor::name);
  return found == program_.tensors.end() ? -1 : static_cast<int>(found - program_.tensors.begin());
}

TileBinding* Scope::tile_of(std::string_view name) {
  const auto found = tiles_.find(name);
  if (found == tiles_.end()) return nullptr;
  if (found->second.registers) return &*found->second.registers;
  return found->second.shared ? &*found->second.shared : nullptr;
}

TileBinding* Scope::find_tile(const std::string& name, TileSpace space) {
  const auto found = tiles_.find(name);
  if (found == tiles_.end()) return nullptr;
  auto& tile = space == TileSpace::shared ? found->second.shared : found->second.registers;
  return tile ? &*tile : nullptr;
}

std::vector<std::string_view> Scope::known_names() const {
  std::vector<std::string_view> names(std::begin(kBuiltinNames), std::end(kBuiltinNames));
  for (const auto& [name, tiles] : tiles_) {
    if (tiles.shared || tiles.registers) names.push_back(name);
  }
  for (const auto& [name, scalar] : scalars_) names.push_back(name);
  return names;
}

std::string Scope::advice_for(std::string_view name) const {
  if (const auto ended = ended_.find(name); ended != ended_.end()) {
    return "; the one made in the block of line " +
           std::to_string(expr::line_number(source_.text(), ended->second)) +
           " ended with it: Allocate it, or Let it be, before that line";
  }
  return core::did_you_mean(core::nearest_name(name, known_names()));
}

void Scope::fail_no_tile(const std::string& name, const TilePlace& statement,
                         std::string_view after) {
  const std::string quoted = "'" + name + "'";
  if (views_.contains(name)) {
    source_.fail(statement, name,
                 quoted +
                     " is a tensor in global memory; Copy a tile of it to shared or register "
                     "first",
                 after);
  }
  if (scalars_.contains(name)) {
    source_.fail(statement, name, quoted + " is a scalar; a tile is needed here", after);
  }
  source_.fail(statement, name, "no tile is called " + quoted + advice_for(name), after);
}

TileBinding& Scope::read_tile(const std::string& name, const TilePlace& statement,
                              std::string_view after) {
  TileBinding* const tile = tile_of(name);
  if (tile == nullptr) fail_no_tile(name, statement, after);
  if (!tile->facts.filled) {
    source_.fail(statement, name,
                 "'" + name +
                     "' is read before it has values; Allocate it with '= 0', or compute "
                     "it first",
                 after);
  }
  return *tile;
}

void Scope::check_new_name(const std::string& name, const TilePlace& statement, bool is_scalar) {
  const auto scalar = scalars_.find(name);
  if (scalar != scalars_.end() && !is_scalar) {
    source_.fail(statement, name, "'" + name + "' is a scalar already; choose another name");
  }
  if (is_scalar && (tile_of(name) != nullptr || views_.contains(name))) {
    source_.fail(statement, name,
                 "'" + name + "' is a tensor or tile already; choose another name");
  }
  if (is_scalar && scalar != scalars_.end()) {
    source_.fail(statement, name,
                 "'" + name +
                     "' has a value already, which never changes; choose another name, or "
                     "keep what changes in a tile");
  }
  if (expr::is_reserved(name) || is_tl_word(name) ||
      std::ranges::find(kBuiltinNames, name) != std::end(kBuiltinNames)) {
    source_.fail(statement, name, "'" + name + "' is a word of the language; choose another name");
  }
}

TileBinding& Scope::declare_tile(const std::string& name, TileSpace space, const TileType& type,
                                 const TilePlace& statement) {
  check_new_name(name, statement, false);
  if (find_tile(name, space) != nullptr) {
    source_.fail(statement, name, "'" + name + "' is allocated already; leave out one of the two");
  }
  const auto slot = static_cast<int>(code_.tiles.size());
  code_.tiles.push_back({name, space, type, statement.begin});
  auto& tiles = tiles_[name];
  auto& tile = space == TileSpace::shared ? tiles.shared : tiles.registers;
  tile = TileBinding{.slot = slot, .declared = true, .level = level()};
  return *tile;
}

TileBinding& Scope::make_tile(const std::string& name, TileSpace space, const TileType& type,
                              const TilePlace& statement) {
  TileBinding* known = find_tile(name, space);
  if (known == nullptr) {
    TileBinding& made = declare_tile(name, space, type, statement);
    made.declared = false;
    made.facts.filled = true;
    return made;
  }
  const TileType& before = code_.tiles[static_cast<std::size_t>(known->slot)].type;
  if (before != type) {
    if (known->declared || known->level < level()) {
      source_.fail(statement, name,
                   "'" + name + "' is " + to_string(before) + " and would become " +
                       to_string(type) +
                       (known->declared ? "; an allocated tile keeps its dtype and shape"
                                        : "; a tile made outside a loop or branch keeps its dtype "
                                          "and shape in it") +
                       ": use another name");
    }
    known->slot = static_cast<int>(code_.tiles.size());
    code_.tiles.push_back({name, space, type, statement.begin});
  }
  known->facts = {.filled = true};
  return *known;
}

ViewBinding& Scope::read_view(const std::string& name, const TilePlace& statement,
                              std::string_view after) {
  used_.insert(name);
  const auto found = views_.find(name);
  if (found == views_.end()) {
    std::vector<std::string_view> tensors;
    for (const Tensor& tensor : program_.tensors) tensors.push_back(tensor.name);
    source_.fail(
        statement, name,
        "no tensor is called '" + name + "'" +
            core::did_you_mean(core::nearest_name(name, tensors)) +
            (tensors.empty() ? "; declare it in the header, as in 'Tensor " + name + " : f16 [N]'"
                             : ""),
        after);
  }
  return found->second;
}

ViewBinding& Scope::declare_view(const std::string& name, ViewBinding view,
                                 const TilePlace& statement) {
  ViewBinding& known = read_view(name, statement);
  view.slot = static_cast<int>(code_.views.size());
  view.level = level();
  code_.views.push_back({name, tensor_index(name), view.extents.size()});
  return known = std::move(view);
}

int Scope::make_scalar(const std::string& name, DType dtype, const TilePlace& statement) {
  check_new_name(name, statement, true);
  const auto slot = static_cast<int>(code_.scalars.size());
  code_.scalars.push_back(dtype);
  scalars_[name] = {.slot = slot, .level = level()};
  return slot;
}

void Scope::make_known(const std::string& name, const expr::Weak& value,
                       const TilePlace& statement) {
  check_new_name(name, statement, true);
  scalars_[name] = {.known = value, .level = level()};
}

}  // namespace tilejit::program
