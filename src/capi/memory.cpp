#include "capi/arguments.hpp"
#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "interop/strides.hpp"
#include "tilejit/print_tensor.hpp"

using namespace tilejit;
using namespace tilejit::capi;

namespace {

template <typename... Stream>
tj_buffer* make_buffer(const tj_runtime* runtime, std::size_t bytes, Stream... stream) {
  const auto& owner = required(runtime, "runtime").runtime;
  return new tj_buffer{owner, std::make_shared<Buffer>(*owner, bytes, stream...)};
}

PrintOptions print_options(const tj_print_options* given) {
  PrintOptions options;
  if (given == nullptr) return options;
  const tj_print_options& known = required_struct(given, "options");
  options.verbose = known.verbose != 0;
  if (known.edge_items != 0) options.edge_items = known.edge_items;
  return options;
}

}  // namespace

extern "C" {

tj_status tj_buffer_create(const tj_runtime* runtime, size_t bytes, tj_buffer** buffer) {
  return guarded([&] {
    (void)required(buffer, "buffer");
    *buffer = make_buffer(runtime, bytes);
  });
}

tj_status tj_buffer_create_on_stream(const tj_runtime* runtime, size_t bytes, void* stream,
                                     tj_buffer** buffer) {
  return guarded([&] {
    (void)required(buffer, "buffer");
    *buffer = make_buffer(runtime, bytes, static_cast<Stream>(stream));
  });
}

void tj_buffer_destroy(tj_buffer* buffer) {
  delete buffer;
}

void* tj_buffer_data(const tj_buffer* buffer) {
  return buffer == nullptr ? nullptr : buffer->buffer->data();
}

tj_status tj_buffer_copy_from_host(tj_buffer* buffer, const void* source, size_t bytes) {
  return guarded([&] {
    Buffer& known = *required(buffer, "buffer").buffer;
    if (bytes > 0) (void)required(static_cast<const char*>(source), "source");
    known.copy_from_host(source, bytes);
  });
}

tj_status tj_buffer_copy_to_host(const tj_buffer* buffer, void* destination, size_t bytes) {
  return guarded([&] {
    const Buffer& known = *required(buffer, "buffer").buffer;
    if (bytes > 0) (void)required(static_cast<char*>(destination), "destination");
    known.copy_to_host(destination, bytes);
  });
}

tj_status tj_print_tensor(const tj_argument* tensor, const tj_print_options* options, char** text) {
  return guarded([&] {
    (void)required(text, "text");
    const Arguments arguments(tensor, 1);
    const Argument& given = arguments.only_tensor();
    *text = copy_text(print_tensor(given.dtype, interop::flat_layout(given.shape, given.stride),
                                   reinterpret_cast<const void*>(given.address),
                                   print_options(options)));
  });
}

tj_status tj_runtime_print_tensor(const tj_runtime* runtime, void* stream,
                                  const tj_argument* tensor, const tj_print_options* options,
                                  char** text) {
  return guarded([&] {
    (void)required(text, "text");
    const Arguments arguments(tensor, 1);
    const Argument& given = arguments.only_tensor();
    *text = copy_text(
        print_tensor(*required(runtime, "runtime").runtime, static_cast<Stream>(stream),
                     given.dtype, interop::flat_layout(given.shape, given.stride),
                     reinterpret_cast<const void*>(given.address), print_options(options)));
  });
}

}  // extern "C"
