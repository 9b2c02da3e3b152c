#pragma once

#include <memory>

#include "driver/handles.hpp"
#include "tilejit/stream.hpp"

namespace tilejit {

struct OwnedStream::Impl {
  std::shared_ptr<const driver::Context> context;  // outlives the stream
  driver::UniqueStream handle;
};

struct Event::Impl {
  std::shared_ptr<const driver::Context> context;
  driver::UniqueEvent handle;
};

}  // namespace tilejit
