#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tilejit/program.hpp"

namespace tilejit::program {

/// A program with memory for its tensors, which are read and written as doubles.
class HostProgram {
 public:
  explicit HostProgram(std::string_view text, SymbolValues symbols = {},
                       std::vector<Number> scalars = {})
      : program_(parse_program(text)) {
    args_.symbols = std::move(symbols);
    args_.scalars = std::move(scalars);
    for (const Tensor& tensor : program_.tensors) {
      std::int64_t last = 0;
      bool empty = false;
      for (const Mode& leaf : tensor.layout.leaves()) {
        const std::int64_t extent = leaf.extent.evaluate(args_.symbols);
        empty = empty || extent == 0;
        last += (extent - 1) * leaf.stride.evaluate(args_.symbols);
      }
      counts_.push_back(empty ? 0 : last + 1);
      memory_.emplace_back(static_cast<std::size_t>(counts_.back() * size_bytes(tensor.dtype)));
    }
    for (auto& bytes : memory_) args_.tensors.push_back(bytes.data());
  }

  HostProgram& set(std::string_view tensor, const std::vector<double>& values) {
    const std::size_t t = index(tensor);
    EXPECT_EQ(static_cast<std::int64_t>(values.size()), counts_[t]) << tensor;
    for (std::size_t i = 0; i < values.size(); ++i) {
      encode(program_.tensors[t].dtype, values[i], at(t, i));
    }
    return *this;
  }

  [[nodiscard]] std::vector<double> get(std::string_view tensor) const {
    const std::size_t t = index(tensor);
    std::vector<double> values(static_cast<std::size_t>(counts_[t]));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = decode(program_.tensors[t].dtype, at(t, i));
    }
    return values;
  }

  HostProgram& run(InterpretOptions options = {}) {
    if (!options.print) {
      options.print = [this](std::string_view line) { printed_ += std::string(line) + '\n'; };
    }
    interpret(program_, args_, options);
    return *this;
  }

  /// The message of the Error that running throws.
  [[nodiscard]] std::string failure(const InterpretOptions& options = {}) {
    try {
      run(options);
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + ": " + error.what();
    }
    return "no error";
  }

  [[nodiscard]] const std::string& printed() const noexcept { return printed_; }
  [[nodiscard]] const TileProgram& program() const noexcept { return program_; }
  [[nodiscard]] HostArguments& arguments() noexcept { return args_; }

 private:
  [[nodiscard]] std::size_t index(std::string_view tensor) const {
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      if (program_.tensors[i].name == tensor) return i;
    }
    ADD_FAILURE() << "no tensor " << tensor;
    return 0;
  }
  [[nodiscard]] std::byte* at(std::size_t t, std::size_t i) const {
    return static_cast<std::byte*>(args_.tensors[t]) +
           static_cast<std::ptrdiff_t>(i) * size_bytes(program_.tensors[t].dtype);
  }

  TileProgram program_;
  HostArguments args_;
  std::vector<std::int64_t> counts_;
  std::vector<std::vector<std::byte>> memory_;
  std::string printed_;
};

}  // namespace tilejit::program
