#pragma once

#include <cstring>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reference/problem.hpp"

namespace tilejit::reference {

/// Builds a Problem by hand, with memory for its tensors.
class ProblemBuilder {
 public:
  explicit ProblemBuilder(std::vector<std::int64_t> shape) { problem_.shape = std::move(shape); }

  /// A tensor of `elements` elements, all zero bytes. Returns its index.
  int tensor(std::string name, DType dtype, std::vector<ModeLeaves> modes, std::size_t elements) {
    memory_.emplace_back(elements * static_cast<std::size_t>(size_bytes(dtype)) + 8);
    std::vector<int> axes(modes.size());
    std::iota(axes.begin(), axes.end(), 0);
    problem_.tensors.push_back(
        {std::move(name), dtype, memory_.back().data(), std::move(modes), std::move(axes)});
    return static_cast<int>(problem_.tensors.size()) - 1;
  }
  /// A tensor with the memory of `values`, contiguous along a one-mode iteration space.
  int vector(std::string name, DType dtype, std::span<const double> values) {
    const auto extent = static_cast<std::int64_t>(values.size());
    const int index = tensor(std::move(name), dtype, {{{extent, 1}}}, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) set(index, i, values[i]);
    return index;
  }
  void set(int tensor, std::size_t element, double value) {
    encode(problem_.tensors[tensor].dtype, value, address(tensor, element));
  }
  [[nodiscard]] double get(int tensor, std::size_t element) {
    return decode(problem_.tensors[tensor].dtype, address(tensor, element));
  }
  [[nodiscard]] std::vector<double> values(int tensor, std::size_t count) {
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(get(tensor, i));
    return out;
  }
  void scalar(Number value) { problem_.scalars.push_back(value); }

  expr::NodeId constant(DType type, double value) {
    expr::Node node{expr::Op::constant, type};
    if (is_floating(type)) {
      node.constant = value;
    } else {
      node.constant = static_cast<std::int64_t>(value);
    }
    return push(node);
  }
  expr::NodeId load(int tensor) {
    expr::Node node{expr::Op::load, problem_.tensors[tensor].dtype};
    node.source = tensor;
    return push(node);
  }
  expr::NodeId load_scalar(DType type, int scalar) {
    expr::Node node{expr::Op::scalar, type};
    node.source = scalar;
    return push(node);
  }
  expr::NodeId node(expr::Op op, DType type, std::initializer_list<expr::NodeId> args) {
    expr::Node node{op, type};
    std::copy(args.begin(), args.end(), node.args.begin());
    return push(node);
  }
  void store(int tensor, expr::NodeId value) { problem_.program.stores.push_back({tensor, value}); }

  [[nodiscard]] const Problem& problem() const { return problem_; }
  /// Each tensor's memory, in the form that `verify` takes the results.
  [[nodiscard]] std::vector<const void*> memory() const {
    std::vector<const void*> pointers;
    for (const TensorView& tensor : problem_.tensors) pointers.push_back(tensor.data);
    return pointers;
  }

 private:
  expr::NodeId push(const expr::Node& node) {
    problem_.program.nodes.push_back(node);
    return static_cast<expr::NodeId>(problem_.program.nodes.size()) - 1;
  }
  void* address(int tensor, std::size_t element) {
    const TensorView& view = problem_.tensors[tensor];
    return static_cast<std::byte*>(view.data) + element * size_bytes(view.dtype);
  }

  Problem problem_;
  std::vector<std::vector<std::byte>> memory_;
};

}  // namespace tilejit::reference
