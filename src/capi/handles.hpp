#pragma once

#include <memory>
#include <string>
#include <utility>

#include "tilejit/buffer.hpp"
#include "tilejit/dlpack.hpp"
#include "tilejit/runtime.hpp"
#include "tilejit/tilejit.h"

// The contents of the opaque handles.

struct tj_compiler {
  // Either its own, or a runtime's, which it keeps alive.
  std::shared_ptr<tilejit::Compiler> compiler;
};

struct tj_artifact {
  explicit tj_artifact(tilejit::Artifact made)
      : artifact(std::move(made)), target(tilejit::to_string(artifact.target)) {}
  tilejit::Artifact artifact;
  std::string target;
};

struct tj_runtime {
  std::shared_ptr<tilejit::Runtime> runtime;
};

struct tj_kernel {
  tilejit::Kernel kernel;
};

struct tj_buffer {
  std::shared_ptr<tilejit::Runtime> runtime;
  std::shared_ptr<tilejit::Buffer> buffer;  // shared with tensors that the caller got
};

struct tj_tensor {
  tilejit::DlpackTensor tensor;
};
