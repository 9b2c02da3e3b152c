#include "compile/elf_id.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tilejit/cache/files.hpp"

namespace tilejit::compile {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
#error NVRTC exists for x86-64 and aarch64 only
#endif

// Limits on what a file makes us read. Real files have about 10 headers and notes of 100 bytes.
constexpr std::size_t kMaxProgramHeaders = 64;
constexpr std::size_t kMaxNoteBytes = 64 << 10;
constexpr std::size_t kMaxBuildIdBytes = 64;
constexpr std::size_t kEdgeBytes = 64 << 10;

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : fd_(cache::above_stdio(
            ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))) {
    struct stat info;
    if (fd_ < 0 || ::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return;
    size_ = static_cast<std::uint64_t>(info.st_size);
  }
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t size() const { return size_; }

  // The bytes [offset, offset + bytes), or nothing if the file does not have all of them.
  std::string read(std::uint64_t offset, std::size_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return {};
    std::string data(bytes, '\0');
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t got =
          ::pread(fd_, data.data() + done, bytes - done, static_cast<off_t>(offset + done));
      if (got <= 0) return {};
      done += static_cast<std::size_t>(got);
    }
    return data;
  }

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

// Copies, since data in a file need not be aligned.
template <class T>
std::optional<T> load(std::string_view bytes, std::size_t at) {
  if (at > bytes.size() || sizeof(T) > bytes.size() - at) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Finds the GNU build id among the notes of one segment.
std::string find_build_id(std::string_view notes, std::size_t alignment) {
  std::size_t at = 0;
  while (const auto note = load<Elf64_Nhdr>(notes, at)) {
    const std::size_t name_at = at + sizeof(Elf64_Nhdr);
    const std::size_t text_at = align_up(name_at + note->n_namesz, alignment);
    if (text_at > notes.size() || note->n_descsz > notes.size() - text_at) break;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz > 0 &&
        note->n_descsz <= kMaxBuildIdBytes &&
        notes.substr(name_at, 4) == std::string_view("GNU", 4)) {
      return std::string(notes.substr(text_at, note->n_descsz));
    }
    at = align_up(text_at + note->n_descsz, alignment);
  }
  return {};
}

std::string read_build_id(const File& file, const Elf64_Ehdr& header) {
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  const std::size_t count = std::min<std::size_t>(header.e_phnum, kMaxProgramHeaders);
  const std::string table = file.read(header.e_phoff, count * sizeof(Elf64_Phdr));
  for (std::size_t i = 0; i < count; ++i) {
    const auto segment = load<Elf64_Phdr>(table, i * sizeof(Elf64_Phdr));
    if (!segment) break;
    if (segment->p_type != PT_NOTE || segment->p_filesz > kMaxNoteBytes) continue;
    const std::string notes = file.read(segment->p_offset, segment->p_filesz);
    const std::string id = find_build_id(notes, segment->p_align == 8 ? 8 : 4);
    if (!id.empty()) return to_hex(id);
  }
  return {};
}

// FNV-1a, 64 bits (Fowler, Noll, Vo). It does not resist forgery, which does not matter for a
// library that we load.
std::uint64_t fnv1a64(std::string_view bytes, std::uint64_t hash) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string hash_edges(const File& file) {
  const auto edge = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), kEdgeBytes));
  std::uint64_t hash = fnv1a64(std::to_string(file.size()) + ":", 0xcbf29ce484222325u);
  hash = fnv1a64(file.read(0, edge), hash);
  hash = fnv1a64(file.read(file.size() - edge, edge), hash);
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(hash >> shift);
  return "fnv1a64:" + to_hex(bytes);
}

}  // namespace

std::optional<std::string> elf_id(const std::filesystem::path& path) {
  const File file(path);
  const auto header = load<Elf64_Ehdr>(file.read(0, sizeof(Elf64_Ehdr)), 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != kMachine) {
    return std::nullopt;
  }
  std::string id = read_build_id(file, *header);
  return id.empty() ? hash_edges(file) : id;
}

}  // namespace tilejit::compile
