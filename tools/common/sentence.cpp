#include "common/sentence.hpp"

namespace tilejit::cli {

std::string sentence(const Error& error) {
  const std::string text = error.what();
  const std::string place = " (" + error.where() + ")";
  if (error.where().empty() || !text.ends_with(place)) return text;
  const std::string rest = text.substr(0, text.size() - place.size());
  return rest.find(error.where()) == std::string::npos ? text : rest;
}

}  // namespace tilejit::cli
