#include "spec/sweep.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "expr/names.hpp"
#include "spec/object_reader.hpp"

namespace tilejit::spec {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostValues = 10'000;

/// One name of a sweep: its values, and how each is written in a kernel's name.
struct Swept {
  std::string name;
  std::vector<Json> values = {};
  std::vector<std::string> labels = {};
  bool used = false;
};

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_name_char(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string label_of(const Json& value) {
  std::string label = text_of(value);
  for (char& c : label) {
    if (c == '.') c = 'p';
    if (c == '-') c = 'm';
    if (!is_name_char(c)) c = '_';
  }
  return label;
}

/// Labels of the values. If two values have the same label, their numbers are used instead.
std::vector<std::string> labels_of(const std::vector<Json>& values) {
  std::vector<std::string> labels;
  for (const Json& value : values) labels.push_back(label_of(value));
  if (std::set<std::string>(labels.begin(), labels.end()).size() == labels.size()) return labels;
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = std::to_string(i);
  return labels;
}

/// True for members whose text may contain names. In other members a name must be the whole value.
bool is_text(std::string_view member) noexcept {
  return member == "layout" || member == "formula" || member == "expr" || member == "thr" ||
         member == "val" || member == "grid" || member == "block" || member == "cluster" ||
         member == "shared";
}

/// Puts the chosen values into one descriptor.
class Substitution {
 public:
  Substitution(std::vector<Swept>& sweep, std::string where, Problems& problems)
      : sweep_(sweep), chosen_(sweep.size()), where_(std::move(where)), problems_(problems) {}

  std::vector<std::size_t>& chosen() noexcept { return chosen_; }

  Json apply(const Json& json) {
    Json result = Json::object();
    for (const auto& [member, value] : json.items()) {
      if (member == "sweep") continue;
      Json& placed = result[member] = value;
      const bool prose = member == "name" || member == "op" || member == "description";
      if (!prose && member != "$schema") replace(placed, member, pointer_to(where_, member));
    }
    return result;
  }

  /// "dtype=f16, N=1024"
  [[nodiscard]] std::string choice() const {
    std::string text;
    for (std::size_t i = 0; i < sweep_.size(); ++i) {
      text += (i == 0 ? "" : ", ") + sweep_[i].name + '=' + text_of(sweep_[i].values[chosen_[i]]);
    }
    return text;
  }

  [[nodiscard]] std::string name(const std::string& base, std::size_t number) const {
    std::string name = base;
    for (std::size_t i = 0; i < sweep_.size(); ++i) name += '_' + sweep_[i].labels[chosen_[i]];
    if (name.size() <= kLongestName) return name;
    const std::string suffix = '_' + std::to_string(number);
    return base.substr(0, kLongestName - suffix.size()) + suffix;
  }

 private:
  void replace(Json& json, std::string_view member, const std::string& where) {
    if (json.is_string()) return replace_text(json, is_text(member));
    if (json.is_array()) {
      for (std::size_t i = 0; i < json.size(); ++i) {
        replace(json[i], member, pointer_to(where, std::to_string(i)));
      }
    } else if (json.is_object()) {
      for (auto& [name, value] : json.items()) {
        if (name == "args") continue;
        const std::string place = pointer_to(where, name);
        // For example {"N": {"divisible_by": 8}} in a shape.
        if (member == "shape" || member == "stride") refuse_facts(name, place);
        replace(value, name, place);
      }
    }
  }

  void refuse_facts(const std::string& name, const std::string& where) {
    if (find(name) == nullptr) return;
    problems_.add(ErrorCode::invalid_spec,
                  "'" + name + "' is swept, and so a number without facts; write \"" + name + "\"",
                  where);
  }

  void replace_text(Json& json, bool text_member) {
    const std::string text = json.get<std::string>();
    if (Swept* const swept = text_member ? nullptr : find(text)) {
      json = value_of(*swept);
      return;
    }
    std::string replaced;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t begin = i;
      while (i < text.size() && is_name_char(text[i])) ++i;
      if (i == begin) {
        replaced += text[i++];
      } else {
        replaced += word(text.substr(begin, i - begin));
      }
    }
    json = std::move(replaced);
  }

  std::string word(const std::string& word) {
    Swept* const swept = find(word);
    if (swept == nullptr) return word;
    const std::string text = text_of(value_of(*swept));
    return text.starts_with('-') ? '(' + text + ')' : text;
  }

  Swept* find(std::string_view name) {
    const auto found = std::ranges::find(sweep_, name, &Swept::name);
    return found == sweep_.end() ? nullptr : &*found;
  }
  const Json& value_of(Swept& swept) {
    swept.used = true;
    return swept.values[chosen_[static_cast<std::size_t>(&swept - sweep_.data())]];
  }

  std::vector<Swept>& sweep_;
  std::vector<std::size_t> chosen_;  // for each name, the index of its value
  std::string where_;
  Problems& problems_;
};

/// Another use of that name in the descriptor; empty if there is none.
std::string other_use(const Json& json, const std::string& name) {
  for (const auto& [member, what] :
       {std::pair("tensors", "a tensor"), std::pair("scalars", "a scalar"),
        std::pair("symbols", "a symbol"), std::pair("functions", "a function")}) {
    const auto found = json.find(member);
    if (found != json.end() && found->is_object() && found->contains(name)) return what;
  }
  if (const auto functions = json.find("functions");
      functions != json.end() && functions->is_object()) {
    for (const Json& function : *functions) {
      if (!function.is_object() || !function.contains("args")) continue;
      for (const Json& arg : function["args"]) {
        if (arg == name) return "an argument of a function";
      }
    }
  }
  return expr::names_function(name) ? "part of the language" : "";
}

bool is_value(const Json& json) {
  return (json.is_string() && json.get_ref<const std::string&>().size() <= 256) || json.is_number();
}

void read_values(const Json& list, Swept& swept, const std::string& where, Problems& problems) {
  const bool good = list.is_array() && !list.empty() && list.size() <= kMostValues &&
                    std::ranges::all_of(list, is_value);
  if (!good) {
    problems.add(ErrorCode::invalid_spec,
                 "expected a list of 1 to 10,000 numbers or short texts, such as [1024, 4096] or "
                 "[\"f16\", \"bf16\"]",
                 where);
    return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!seen.insert(list[i].dump(-1, ' ', false, Json::error_handler_t::replace)).second) {
      problems.add(ErrorCode::invalid_spec, "this value is given twice; remove one",
                   pointer_to(where, std::to_string(i)));
    }
    swept.values.push_back(list[i]);
  }
  swept.labels = labels_of(swept.values);
}

std::vector<Swept> read_sweep(const Json& json, const std::string& where, Problems& problems) {
  std::vector<Swept> sweep;
  ObjectReader object(json, where, problems);
  object.members("sweep", [&](const std::string& name, const Json& list, const std::string& place) {
    Swept& swept = sweep.emplace_back(Swept{.name = name});
    read_values(list, swept, place, problems);
    if (!core::is_identifier(name)) {
      problems.add(ErrorCode::invalid_spec,
                   in_quotes(name) +
                       " is not an identifier: letters, digits and "
                       "'_', at most 64",
                   place);
    } else if (const std::string use = other_use(json, name); !use.empty()) {
      problems.add(ErrorCode::invalid_spec,
                   "'" + name + "' is also the name of " + use + "; choose another", place);
    }
  });
  const Json& given = json["sweep"];
  if (given.is_object() && given.empty()) {
    problems.add(ErrorCode::invalid_spec,
                 "the sweep is empty; write for instance {\"N\": [1024, 4096]}",
                 object.at("sweep"));
  }
  return sweep;
}

/// The number of combinations, or `most` + 1 if there are more than `most`.
std::size_t product_of(const std::vector<Swept>& sweep, std::size_t most) {
  std::size_t product = 1;
  for (const Swept& swept : sweep) {
    product *= swept.values.size();
    if (product > most) return most + 1;
  }
  return product;
}

/// Moves to the next choice; the last name changes fastest. After the last choice it starts over.
void advance(std::vector<std::size_t>& chosen, const std::vector<Swept>& sweep) {
  for (std::size_t i = sweep.size(); i-- > 0;) {
    if (++chosen[i] < sweep[i].values.size()) return;
    chosen[i] = 0;
  }
}

}  // namespace

std::size_t each_of_sweep(const Json& json, const std::string& where, std::size_t most,
                          Problems& problems, const SeeSwept& see) {
  if (!json.is_object() || !json.contains("sweep")) {
    see(json, "");
    return 1;
  }
  Problems own;
  std::vector<Swept> sweep = read_sweep(json, where, own);
  const std::size_t count = own.empty() ? product_of(sweep, most) : 0;
  if (count > most) {
    own.add(ErrorCode::invalid_spec,
            "a file stands for at most 100,000 descriptors, sweeps included",
            pointer_to(where, "sweep"));
  }
  Substitution substitution(sweep, where, own);
  if (own.empty()) {
    (void)substitution.apply(json);  // finds names that nothing uses
    for (const Swept& swept : sweep) {
      if (swept.used) continue;
      own.add(ErrorCode::invalid_spec,
              "nothing in the descriptor is called '" + swept.name + "'; remove it",
              pointer_to(pointer_to(where, "sweep"), swept.name));
    }
  }
  if (!own.empty()) {
    problems.add(std::move(own));
    return 0;
  }
  const auto name = json.find("name");
  const std::string base =
      name != json.end() && name->is_string() ? name->get<std::string>() : "fused";
  for (std::size_t i = 0; i < count; ++i) {
    Json descriptor = substitution.apply(json);
    if (name == json.end() || name->is_string()) descriptor["name"] = substitution.name(base, i);
    see(descriptor, substitution.choice());
    advance(substitution.chosen(), sweep);
  }
  return count;
}

}  // namespace tilejit::spec
