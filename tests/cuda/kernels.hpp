#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/source_dir.hpp"
#include "tilejit/cuda_kernel.hpp"

namespace tilejit::test {

/// y[i] = factor * x[i] for N elements, one thread per element.
inline CudaKernel scale_kernel() {
  CudaKernel kernel;
  kernel.name = "scale";
  kernel.tensors = {{"x", f32, "(N):(1)"}, {"y", f32, "(N):(1)", Access::out}};
  kernel.scalars = {{"factor", f32}};
  kernel.constants = {{"kThreads", Number(128)}};
  kernel.launch = {.grid = {"ceil_div(N, kThreads)"}, .block = {"kThreads"}};
  kernel.text = R"(#include "plan.cuh"
extern "C" __global__ void scale(const __grid_constant__ Params p) {
  const i64 i = blockIdx.x * i64(kThreads) + threadIdx.x;
  if (i < p.N) p.y[i] = p.factor * p.x[i];
}
)";
  return kernel;
}

/// A folder for one test, removed at its end.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tilejit-cuda-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tilejit::test
