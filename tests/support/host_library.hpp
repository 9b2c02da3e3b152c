#pragma once

#include <string>

namespace tilejit::test {

/// C++ text as a loaded library, compiled by the compiler that built the tests. Throws
/// std::runtime_error if the text does not compile.
class HostLibrary {
 public:
  explicit HostLibrary(const std::string& text, const std::string& options = "-std=c++17");
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;
  ~HostLibrary();

  /// An extern "C" function or variable of the text; null if there is none.
  template <typename Symbol>
  [[nodiscard]] Symbol* find(const std::string& name) const {
    return reinterpret_cast<Symbol*>(symbol(name.c_str()));
  }

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  void* library_ = nullptr;
};

}  // namespace tilejit::test
