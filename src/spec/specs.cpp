#include "spec/specs.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "spec/object_reader.hpp"
#include "spec/sweep.hpp"

namespace tilejit::spec {
namespace {

constexpr std::size_t kMaxKernels = 100'000;

/// Checks the structure first: checking the meaning of a spec with structural faults would repeat
/// them.
Operation read_checked(const Json& json, const std::string& where, const SpecOptions& options,
                       std::span<const Kind> kinds) {
  Problems problems;
  Operation op = read_operation(json, where, options, problems, kinds);
  problems.throw_if_any();
  try {
    validate(op);
  } catch (const Error& error) {
    if (where.empty()) throw;
    Problems placed;
    placed.add(Error(error.code(), error.what()), where);
    placed.throw_if_any();
  }
  return op;
}

/// The descriptors of a file in order, with sweeps expanded.
class SpecList {
 public:
  SpecList(std::span<const Kind> kinds, const SpecOptions& options, std::vector<Error>* faults)
      : kinds_(kinds), options_(options), faults_(faults) {}

  void add(const Json& json, const std::string& where) {
    Problems problems;
    (void)each_of_sweep(json, where, kMaxKernels - std::min(kMaxKernels, ops_.size()), problems,
                        [&](const Json& descriptor, const std::string& choice) {
                          try {
                            add_one(choice.empty()
                                        ? read_checked(descriptor, where, options_, kinds_)
                                        : read_chosen(descriptor, where, choice),
                                    where);
                          } catch (const Error& error) {
                            if (faults_ == nullptr) throw;
                            faults_->push_back(error);
                          }
                        });
    problems.throw_if_any();
  }
  [[nodiscard]] std::vector<Operation> take() { return std::move(ops_); }

 private:
  void add_one(Operation op, const std::string& where) {
    if (!names_.insert(op.name()).second) {
      throw Error(ErrorCode::invalid_spec,
                  "a kernel named '" + op.name() + "' stands earlier in the list", where + "/name");
    }
    ops_.push_back(std::move(op));
  }

  /// Faults say which descriptor of the sweep has them.
  [[nodiscard]] Operation read_chosen(const Json& json, const std::string& where,
                                      const std::string& choice) const {
    try {
      return read_checked(json, where, options_, kinds_);
    } catch (const Error& error) {
      Problems placed;
      placed.add(error, where);
      placed.put_in_front("with " + core::shortened(choice) + ": ");
      placed.throw_if_any();
      throw;
    }
  }

  std::span<const Kind> kinds_;
  const SpecOptions& options_;
  std::vector<Error>* faults_;
  std::vector<Operation> ops_;
  std::set<std::string> names_;
};

/// The descriptors of a file: JSON, or the text of an operation that has one.
Json parse_text(std::string_view text, std::span<const Kind> kinds) {
  for (const Kind& kind : kinds) {
    if (kind.is_text != nullptr && kind.is_text(text)) return kind.descriptor_of_text(text);
  }
  return parse_json(text);
}

}  // namespace

Operation read_operation(const Json& json, const std::string& where, const SpecOptions& options,
                         Problems& problems, std::span<const Kind> kinds) {
  const Kind* kind = &kinds.front();
  if (json.is_object() && json.contains("op") && json["op"].is_string()) {
    const std::string name = json["op"].get<std::string>();
    const auto found = std::ranges::find(kinds, name, &Kind::name);
    if (found == kinds.end()) {
      std::string known;
      for (const Kind& one : kinds) {
        const bool last = &one == &kinds.back();
        known += (known.empty() ? "" : last ? " or " : ", ") + ('"' + std::string(one.name) + '"');
      }
      problems.add(ErrorCode::invalid_spec,
                   "unknown operation " + in_quotes(name) + "; use " + known, where + "/op");
    } else {
      kind = &*found;
    }
  }
  return kind->read(json, where, options, problems);
}

std::vector<Operation> read_specs(std::string_view text, std::span<const Kind> kinds,
                                  std::vector<Error>* faults, const SpecOptions& options) {
  const Json json = parse_text(text, kinds);
  SpecList specs(kinds, options, faults);
  if (!json.is_object() || !json.contains("kernels")) {
    specs.add(json, "");
    return specs.take();
  }
  Problems problems;
  ObjectReader object(json, "", problems);
  object.refuse_others({"$schema", "description", "kernels"});
  (void)object.text("$schema");
  (void)object.text("description");
  const Json& list = json["kernels"];
  if (!list.is_array() || list.empty() || list.size() > kMaxKernels) {
    problems.add(ErrorCode::invalid_spec, "\"kernels\" is a list of 1 to 100,000 descriptors",
                 "/kernels");
  }
  problems.throw_if_any();
  for (std::size_t i = 0; i < list.size(); ++i) {
    specs.add(list[i], "/kernels/" + std::to_string(i));
  }
  return specs.take();
}

}  // namespace tilejit::spec

namespace tilejit {

Operation parse_operation(std::string_view json, const SpecOptions& options) {
  const spec::Json parsed = spec::parse_text(json, spec::kinds());
  if (parsed.is_object() && parsed.contains("sweep")) {
    throw Error(ErrorCode::invalid_spec,
                "a sweep stands for several descriptors; read it with parse_specs", "/sweep");
  }
  return spec::read_checked(parsed, "", options, spec::kinds());
}

std::vector<Operation> parse_specs(std::string_view json, std::vector<Error>* faults,
                                   const SpecOptions& options) {
  return spec::read_specs(json, spec::kinds(), faults, options);
}

}  // namespace tilejit
