#include "front/ptxas_report.hpp"

#include <algorithm>
#include <charconv>

namespace tilejit::front {
namespace {

/// The number directly before `word` in `line`; 0 if there is none.
int number_before(std::string_view line, std::string_view word) {
  const std::size_t end = line.find(word);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

}  // namespace

std::optional<PtxasReport> parse_ptxas_report(std::string_view log) {
  PtxasReport report;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    const int spills =
        number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    report.registers = std::max(report.registers, number_before(line, " registers"));
    report.shared_bytes = std::max(report.shared_bytes, number_before(line, " bytes smem"));
    report.spill_bytes = std::max(report.spill_bytes, spills);
  }
  if (report.registers == 0) return std::nullopt;
  return report;
}

}  // namespace tilejit::front
