#include "file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tilejit::cache {

int set_lock(int fd, short type, long long at) noexcept {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(at);
  lock.l_len = 1;
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
}

}  // namespace tilejit::cache
