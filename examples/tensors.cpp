// Tensors as values: divided, sliced, composed with threads and values, filled and printed.
#include <tilejit/tilejit.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

using namespace tilejit;

int main() try {
  const auto show = [](const char* what, const std::string& text) {
    std::printf("%-10s %s\n", what, text.c_str());
  };
  // Device memory that is not there yet: only its type is known.
  const TensorView memory({.dtype = f16, .space = MemorySpace::gmem, .align = 16},
                          "(2048,2048):(2048,1)");
  const TensorView vectors = zipped_divide(memory, "(1,4)");
  show("vectors", to_string(vectors));
  show("one", to_string(slice({_, {"mi", "ni"}}, vectors)));

  // The part of one thread in a tile of (16,256), and its coordinates.
  const LayoutTV tv = make_layout_tv("(4,32):(32,1)", "(4,8):(8,1)");
  const auto part = [&](const TensorView& tensor) {
    const TensorView block = slice({{_, _}, "bidx"}, zipped_divide(tensor, "(16,256)"));
    return slice({"tidx", _}, composition(block, tv.layout_tv));
  };
  const TensorView thread = part(memory), where = part(make_identity_tensor({2048, 2048}));
  show("thread", to_string(thread));
  show("where", to_string(where));
  const SymbolValues numbers = {{"bidx", 129}, {"tidx", 33}};
  show("there", to_string(substitute(where, numbers)));
  std::printf("%s", describe(thread).c_str());

  // Host memory: elements by every kind of coordinate.
  std::vector<float> data(40);
  std::iota(data.begin(), data.end(), 0.0F);
  const TensorView a({.data = data.data()}, "(8,5):(5,1)");
  show("a", to_string(a));
  show("a[2]", to_string(element(a, 2)) + " is a" +
                   to_string(coordinate_at(make_identity_tensor({8, 5}), 2)));
  set_element(a, {2, 4}, 101);
  fill(slice({_, 0}, a), 1);
  std::printf("%s", print_tensor(slice({2, _}, a)).c_str());
  std::printf("%s", print_tensor(make_identity_tensor({4, 2})).c_str());
} catch (const Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
