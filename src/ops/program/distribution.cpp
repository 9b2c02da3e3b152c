#include "program/distribution.hpp"

#include <algorithm>
#include <bit>

#include "tilejit/error.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::program {
namespace {

using Digit = Distribution::Digit;

std::int64_t product_of(const std::vector<Digit>& digits) {
  std::int64_t product = 1;
  for (const Digit& digit : digits) product *= digit.extent;
  return product;
}

std::int64_t up_to_power(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

std::int64_t down_to_power(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
}

std::int64_t whole_steps(std::int64_t extent, std::int64_t step) {
  return (extent + step - 1) / step;
}

void add_digit(std::vector<Digit>& digits, const Digit& digit) {
  if (digit.extent > 1) digits.push_back(digit);
}

/// One more than the largest coordinate along `axis`.
std::int64_t reach(const Distribution& of, int axis) {
  std::int64_t last = 0;
  for (const std::vector<Digit>* digits : {&of.of_thread, &of.of_value}) {
    for (const Digit& digit : *digits) {
      if (digit.axis == axis) last += (digit.extent - 1) * digit.step;
    }
  }
  return last + 1;
}

/// "i / 4 % 8"
std::string digit_text(const std::string& number, std::int64_t before, std::int64_t extent,
                       bool is_last) {
  std::string text = number;
  if (before > 1) text += " / " + std::to_string(before);
  if (!is_last) text += " % " + std::to_string(extent);
  return text;
}

}  // namespace

std::int64_t Distribution::values() const noexcept {
  return product_of(of_value);
}

std::int64_t Distribution::distinct_threads() const noexcept {
  return product_of(of_thread);
}

bool Distribution::overhangs(int axis) const noexcept {
  return reach(*this, axis) > shape[static_cast<std::size_t>(axis)];
}

bool Distribution::overhangs() const noexcept {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (overhangs(static_cast<int>(axis))) return true;
  }
  return false;
}

bool Distribution::repeats() const noexcept {
  return distinct_threads() < threads ||
         std::ranges::any_of(of_thread, [](const Digit& digit) { return digit.axis < 0; });
}

std::int64_t Distribution::vector_along(int axis) const noexcept {
  if (of_value.empty()) return 1;
  const Digit& first = of_value.front();
  return first.axis == axis && first.step == 1 ? first.extent : 1;
}

Distribution spread(const Extents& shape, std::int64_t threads, int axis, std::int64_t vector) {
  Distribution made{.shape = shape, .threads = threads, .of_thread = {}, .of_value = {}};
  std::vector<int> order;
  if (!shape.empty()) order.push_back(axis);
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    if (i != axis) order.push_back(i);
  }
  add_digit(made.of_value, {vector, axis, 1});
  std::int64_t left = down_to_power(threads);
  std::vector<Digit> repeated;
  for (const int one : order) {
    const std::int64_t step = one == axis ? vector : 1;
    const std::int64_t steps = whole_steps(shape[static_cast<std::size_t>(one)], step);
    const std::int64_t taken = std::min(left, up_to_power(steps));
    add_digit(made.of_thread, {taken, one, step});
    add_digit(made.of_value, {whole_steps(steps, taken), one, step * taken});
    left /= taken;
  }
  return made;
}

Distribution slice_of(const Distribution& of, const Extents& shape) {
  Distribution made{.shape = Extents(of.shape.size(), 1), .threads = of.threads};
  const std::size_t missing = of.shape.size() - shape.size();
  std::copy(shape.begin(), shape.end(), made.shape.begin() + static_cast<std::ptrdiff_t>(missing));
  const auto is_kept = [&](const Digit& digit) {
    const auto axis = static_cast<std::size_t>(digit.axis);
    return digit.axis >= 0 && (made.shape[axis] != 1 || of.shape[axis] == 1);
  };
  for (const Digit& digit : of.of_thread) {
    made.of_thread.push_back(is_kept(digit) ? digit : Digit{digit.extent, -1, 0});
  }
  // Digits that repeat have no end: threads beyond the others repeat too.
  while (!made.of_thread.empty() && made.of_thread.back().axis < 0) made.of_thread.pop_back();
  std::ranges::copy_if(of.of_value, std::back_inserter(made.of_value), is_kept);
  return renamed(made, shape);
}

Distribution renamed(const Distribution& of, const Extents& shape) {
  Distribution made = of;
  made.shape = shape;
  // The axes with more than one element are the same, in the same order.
  std::vector<int> to(of.shape.size(), -1);
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < of.shape.size(); ++axis) {
    if (of.shape[axis] == 1) continue;
    while (next < shape.size() && shape[next] == 1) ++next;
    to[axis] = static_cast<int>(next++);
  }
  const auto rename = [&](std::vector<Digit>& digits) {
    for (Digit& digit : digits) {
      if (digit.axis < 0) continue;
      digit.axis = to[static_cast<std::size_t>(digit.axis)];
      if (digit.axis < 0) digit.step = 0;
    }
  };
  rename(made.of_thread);
  rename(made.of_value);
  std::erase_if(made.of_value, [](const Digit& digit) { return digit.axis < 0; });
  return made;
}

Distribution of_thread_value(const Layout& thr, const Layout& val, std::int64_t threads) {
  const LayoutTV tv = make_layout_tv(thr, val);
  const std::int64_t pinned = product(thr.shape()).value();
  if (pinned > threads) {
    throw Error(ErrorCode::unsupported,
                "a tv has " + std::to_string(pinned) + " threads, and the block " +
                    std::to_string(threads) + "; give the block more threads",
                "/launch/block");
  }
  Distribution made{.shape = {}, .threads = threads, .of_thread = {}, .of_value = {}};
  Extents places;  // of the axes in the column-major tile
  std::int64_t size = 1;
  for (std::size_t i = 0; i < rank(tv.layout_mn); ++i) {
    made.shape.push_back(product(mode(tv.layout_mn, i).shape()).value());
    places.push_back(size);
    size *= made.shape.back();
  }
  const auto add = [&](const Layout& from, std::vector<Digit>& digits) {
    for (const Mode& leaf : from.leaves()) {
      std::int64_t stride = leaf.stride.value();
      std::int64_t left = leaf.extent.value();
      while (left > 1) {
        std::size_t axis = 0;
        while (axis + 1 < places.size() && stride >= places[axis + 1]) ++axis;
        const std::int64_t step = stride / places[axis];
        // A leaf may run on into the next axis.
        const bool is_last = axis + 1 == places.size();
        const std::int64_t here = is_last ? left : std::min(left, made.shape[axis] / step);
        add_digit(digits, {here, static_cast<int>(axis), step});
        left /= here;
        stride *= here;
      }
    }
  };
  add(mode(tv.layout_tv, 0), made.of_thread);
  add(mode(tv.layout_tv, 1), made.of_value);
  return made;
}

Distribution of_fragments(const Extents& shape, const Layout& fragment, const Extents& instruction,
                          const Extents& warps, std::int64_t threads) {
  Distribution made{.shape = shape, .threads = threads, .of_thread = {}, .of_value = {}};
  const auto add = [&](const Layout& from, std::vector<Digit>& digits) {
    for (const Mode& leaf : from.leaves()) {
      const std::int64_t stride = leaf.stride.value();
      const bool is_row = stride < instruction[0];
      add_digit(digits,
                {leaf.extent.value(), is_row ? 0 : 1, is_row ? stride : stride / instruction[0]});
    }
  };
  add(mode(fragment, 0), made.of_thread);
  add(mode(fragment, 1), made.of_value);
  const Extents part = {shape[0] / warps[0], shape[1] / warps[1]};  // of a warp
  add_digit(made.of_value, {part[1] / instruction[1], 1, instruction[1]});
  add_digit(made.of_value, {part[0] / instruction[0], 0, instruction[0]});
  add_digit(made.of_thread, {warps[0], 0, part[0]});
  add_digit(made.of_thread, {warps[1], 1, part[1]});
  return made;
}

Distribution permuted(const Distribution& of, const std::vector<int>& axes) {
  Distribution made = of;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    made.shape[static_cast<std::size_t>(axes[i])] = of.shape[i];
  }
  for (std::vector<Digit>* digits : {&made.of_thread, &made.of_value}) {
    for (Digit& digit : *digits) {
      if (digit.axis >= 0) digit.axis = axes[static_cast<std::size_t>(digit.axis)];
    }
  }
  return made;
}

Layout layout_of(const Distribution& of) {
  std::vector<std::int64_t> strides(of.shape.size(), 1);
  for (std::size_t axis = of.shape.size(); axis-- > 1;) {
    const std::int64_t extent = std::max(of.shape[axis], reach(of, static_cast<int>(axis)));
    strides[axis - 1] = strides[axis] * extent;
  }
  const auto mode_of = [&](const std::vector<Digit>& digits) {
    std::vector<Layout> modes;
    for (const Digit& digit : digits) {
      const std::int64_t stride =
          digit.axis < 0 ? 0 : digit.step * strides[static_cast<std::size_t>(digit.axis)];
      modes.emplace_back(Nested<Mode>(Mode{digit.extent, stride}));
    }
    if (modes.empty()) return Layout();
    return modes.size() == 1 ? modes.front() : make_layout(modes);
  };
  return make_layout({mode_of(of.of_thread), mode_of(of.of_value)});
}

std::string to_string(const Distribution& of) {
  return to_string(of.shape) + ": " + tilejit::to_string(layout_of(of));
}

std::string slice_index(const Distribution& of, const Extents& shape, const std::string& i) {
  const std::size_t missing = of.shape.size() - shape.size();
  std::string text;
  std::int64_t before = 1;
  std::int64_t place = 1;
  for (std::size_t d = 0; d < of.of_value.size(); ++d) {
    const Digit& digit = of.of_value[d];
    const auto axis = static_cast<std::size_t>(digit.axis);
    const bool kept = axis >= missing && (shape[axis - missing] != 1 || of.shape[axis] == 1);
    if (kept) {
      text += (text.empty() ? "" : " + ") +
              digit_text(i, before, digit.extent, d + 1 == of.of_value.size());
      if (place > 1) text += " * " + std::to_string(place);
      place *= digit.extent;
    }
    before *= digit.extent;
  }
  if (place == of.values()) return place == 1 ? "0" : i;
  return text.empty() ? "0" : text;
}

std::string digits_text(const std::vector<Digit>& digits, int axis, const std::string& number) {
  std::string text;
  std::int64_t before = 1;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    const Digit& digit = digits[d];
    if (digit.axis == axis) {
      // Values have no number beyond the last digit; threads may.
      const bool is_last = number != "tid" && d + 1 == digits.size();
      text += (text.empty() ? "" : " + ") + digit_text(number, before, digit.extent, is_last);
      if (digit.step != 1) text += " * " + std::to_string(digit.step);
    }
    before *= digit.extent;
  }
  return text;
}

}  // namespace tilejit::program
