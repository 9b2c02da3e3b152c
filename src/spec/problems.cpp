#include "spec/problems.hpp"

#include <algorithm>
#include <utility>

namespace tilejit::spec {

void Problems::add(ErrorCode code, std::string message, std::string where) {
  if (full()) {
    ++left_out_;
  } else {
    found_.push_back({code, std::move(message), std::move(where)});
  }
}

void Problems::add(const Error& error, const std::string& where) {
  std::string message = error.what();
  const std::string own_place = error.where().empty() ? "" : " (" + error.where() + ")";
  if (message.ends_with(own_place)) message.resize(message.size() - own_place.size());
  add(error.code(), std::move(message), error.where().empty() ? where : error.where());
}

void Problems::add(Problems&& others) {
  left_out_ += others.left_out_;
  for (Problem& problem : others.found_) {
    add(problem.code, std::move(problem.message), std::move(problem.where));
  }
}

void Problems::put_in_front(const std::string& text) {
  for (Problem& problem : found_) problem.message.insert(0, text);
}

void Problems::throw_if_any() const {
  if (found_.empty()) return;
  if (found_.size() == 1) throw Error(found_[0].code, found_[0].message, found_[0].where);
  std::string text = std::to_string(found_.size() + left_out_) + " faults:";
  for (std::size_t i = 0; i < std::min(found_.size(), kMostKept); ++i) {
    text += "\n  " + found_[i].where + (found_[i].where.empty() ? "" : ": ") + found_[i].message;
  }
  if (full()) text += "\n  and more";
  throw Error(found_[0].code, text, found_[0].where);
}

std::string in_quotes(std::string_view text) {
  std::string shown(text.substr(0, 60));
  for (char& byte : shown) {
    if (byte < 0x20 || byte > 0x7e) byte = '?';
  }
  return "'" + shown + (text.size() > 60 ? "..." : "") + "'";
}

}  // namespace tilejit::spec
