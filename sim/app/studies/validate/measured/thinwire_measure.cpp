#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "sim/app/results/results_file.hpp"
#include "sim/app/studies/validate/measured/formats.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

std::vector<MeasuredRow> rows_of_results(const std::string& text, const MeasuredFile& file) {
  for (const auto& [name, value] : file.facts) {
    if (name == "machine" || name == "run" || name == "test") continue;
    throw InputError("{}: rows of 'thinwire measure' say the {}; leave the fact out", file.path,
                     name);
  }
  if (file.fact("machine").empty()) {
    throw InputError(
        "{}: rows of 'thinwire measure' do not say the machine; give it as in {},machine=...",
        file.path, file.path);
  }
  std::vector<MeasuredRow> rows;
  int line = 0;
  for (const results::Row& result : results::rows_from(text, file.path).rows) {
    ++line;
    if (!result.outcome || !result.outcome->measured) continue;
    const plan::Point& point = result.point;
    const results::Measured& measured = *result.outcome->measured;
    const auto hosts = std::max<std::int64_t>(1, std::ssize(measured.hosts));
    if (measured.time.median <= Seconds(0)) continue;  // a single rank that does nothing
    if (!is_time(measured.time.median.value())) {
      throw InputError(fmt::format("{}:{}: {} s is no measured time", file.path, line,
                                   measured.time.median.value()));
    }
    rows.push_back({.machine = file.fact("machine"),
                    .run = file.fact("run"),
                    .test = file.fact("test"),
                    .nodes = static_cast<int>(hosts),
                    .tasks_per_node = static_cast<int>((point.ranks + hosts - 1) / hosts),
                    .collective = name_of(point.scheme->collective_kind),
                    .library = measured.library,
                    .algorithm = point.scheme->name,
                    .elements = point.space.components,
                    .seconds = measured.time.median.value(),
                    .seconds_min = measured.time.least.value(),
                    .place = fmt::format("{}:{}", file.path, line),
                    .point = std::make_shared<const plan::Point>(point)});
  }
  if (rows.empty()) {
    throw InputError(
        "{}: holds no measured times; 'mpirun -n P thinwire measure -o FILE' makes some",
        file.path);
  }
  return rows;
}

}  // namespace thinwire::studies
