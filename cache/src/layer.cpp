#include "layer.hpp"

namespace tilejit::cache {

void count(TierCounters& counters, Status status, std::uint64_t nanoseconds) {
  counters.nanoseconds += nanoseconds;
  switch (status) {
    case Status::hit: ++counters.hits; break;
    case Status::miss: ++counters.misses; break;
    case Status::damaged:
    case Status::misplaced: ++counters.damaged; break;
    case Status::failed: break;
  }
}

}  // namespace tilejit::cache
