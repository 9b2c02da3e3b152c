#include "spec/launch_reader.hpp"

#include <string_view>

#include "core/suggestion.hpp"
#include "tilejit/error.hpp"

namespace tilejit::spec {
namespace {

using operation::LaunchShape;
using operation::SizeExpression;

class LaunchReader {
 public:
  LaunchReader(const LaunchNames& names, Problems& problems) : names_(names), problems_(problems) {}

  LaunchShape read(const LaunchTexts& texts) {
    read_three(texts.grid, LaunchShape::grid, "/launch/grid");
    read_three(texts.block, LaunchShape::block, "/launch/block");
    shape_.numbers[LaunchShape::shared] = read_size(texts.shared, "/launch/shared");
    read_cluster(read_size(texts.cluster, "/launch/cluster"));
    if (sound_) check_known();
    return shape_;
  }

 private:
  void fault(const std::string& message, const std::string& where) {
    problems_.add(ErrorCode::invalid_spec, message, where);
    sound_ = false;
  }
  void fault(const Error& error, const std::string& where) {
    problems_.add(error, where);
    sound_ = false;
  }

  void read_three(const std::vector<std::string>& texts, std::size_t first,
                  const std::string& where) {
    if (texts.empty() || texts.size() > 3) {
      return fault("a launch has 1 to 3 extents: x, y and z; found " + std::to_string(texts.size()),
                   where);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      shape_.numbers[first + i] = read_size(texts[i], where + '/' + std::to_string(i));
    }
  }

  SizeExpression read_size(const std::string& text, const std::string& where) {
    try {
      const SizeExpression size = SizeExpression::parse(text, where);
      for (const std::string& name : size.names()) check_name(name, where);
      return size.with(names_.constants);
    } catch (const Error& error) {
      fault(error, where);
      return 1;
    }
  }

  void check_name(const std::string& name, const std::string& where) {
    if (names_.constants.contains(name) || names_.symbols.contains(name)) return;
    std::vector<std::string_view> known;
    for (const auto& [symbol, divisor] : names_.symbols) known.push_back(symbol);
    for (const auto& [constant, value] : names_.constants) known.push_back(constant);
    fault("'" + name + "' is neither an integer constant nor a symbol of a tensor's shape" +
              core::did_you_mean(core::nearest_name(name, known)),
          where);
  }

  void read_cluster(const SizeExpression& cluster) {
    if (!sound_) return;
    if (!cluster.is_known()) {
      return fault("a cluster is known before the launch: an integer, or constants",
                   "/launch/cluster");
    }
    try {
      const std::int64_t blocks = cluster.evaluate();
      if (blocks >= 1 && blocks <= 8) {
        shape_.cluster = static_cast<int>(blocks);
      } else {
        fault("a cluster has 1 to 8 blocks, not " + std::to_string(blocks), "/launch/cluster");
      }
    } catch (const Error& error) {
      fault(error, "/launch/cluster");
    }
  }

  void check_known() {
    std::int64_t values[LaunchShape::kCount] = {1, 1, 1, 1, 1, 1, 0};
    // A grid of symbols counts as one that fits the cluster.
    values[LaunchShape::grid] = shape_.cluster;
    try {
      for (std::size_t i = 0; i < LaunchShape::kCount; ++i) {
        if (!shape_.numbers[i].is_known()) continue;
        values[i] = shape_.numbers[i].evaluate();
        operation::check_launch_number(shape_, i, values[i]);
      }
      operation::check_launch_numbers(shape_, values);
    } catch (const Error& error) {
      std::string what = error.what();
      const std::string place = " (" + error.where() + ")";
      if (what.ends_with(place)) what.resize(what.size() - place.size());
      fault(what, error.where().empty() ? "/launch" : error.where());
    }
  }

  const LaunchNames& names_;
  Problems& problems_;
  LaunchShape shape_;
  bool sound_ = true;
};

}  // namespace

LaunchShape read_launch_shape(const LaunchTexts& texts, const LaunchNames& names,
                              Problems& problems) {
  return LaunchReader(names, problems).read(texts);
}

}  // namespace tilejit::spec
