#include "flights.hpp"

#include <algorithm>
#include <utility>

namespace tilejit::cache {

void Flight::land(EntryPtr made) {
  if (done) return;
  entry = std::move(made);
  done = true;
  landed.notify_all();
}

void Flight::fail(std::exception_ptr thrown, std::chrono::milliseconds ttl) {
  if (done) return;
  error = std::move(thrown);
  forgotten = Flights::Clock::now() + ttl;
  done = true;
  landed.notify_all();
}

std::shared_ptr<Flight> Flights::join(const std::string& key, bool& leads) {
  std::shared_ptr<Flight>& listed = flights_[key];
  leads = !listed || (listed->error && Clock::now() >= listed->forgotten);
  if (leads) listed = std::make_shared<Flight>();
  std::shared_ptr<Flight> flight = listed;
  if (leads && flights_.size() > many_) forget_failures(Clock::now());
  return flight;
}

void Flights::forget_failures(Clock::time_point now) {
  std::erase_if(flights_, [now](const auto& item) {
    return item.second->error && now >= item.second->forgotten;
  });
  many_ = std::max<std::size_t>(64, 2 * flights_.size());
}

}  // namespace tilejit::cache
