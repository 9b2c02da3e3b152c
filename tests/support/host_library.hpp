#pragma once

#include <string>

namespace tilejit::test {

/// C++17 text as a loaded library, compiled by the compiler that built the tests. Throws
/// std::runtime_error if the text does not compile.
class HostLibrary {
 public:
  explicit HostLibrary(const std::string& text);
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;
  ~HostLibrary();

  /// An extern "C" function of the text; null if there is none.
  template <typename Function>
  [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  void* library_ = nullptr;
};

}  // namespace tilejit::test
