#include "sim/app/experiment/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/outcome_json.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::experiment {

namespace {

constexpr std::array<const char*, 3> kStatusNames{"ok", "skipped", "failed"};  // as Status

Status status_from(const std::string& text) {
  const auto* const found = std::ranges::find(kStatusNames, text);
  if (found == kStatusNames.end()) throw InputError(fmt::format("unknown status '{}'", text));
  return static_cast<Status>(found - kStatusNames.begin());
}

}  // namespace

Row failed_row(const std::string& sweep, const Point& point, const std::string& reason) {
  return {.sweep = sweep,
          .key = key_of(point),
          .version = version(),
          .point = point,
          .status = Status::failed,
          .reason = reason,
          .outcome = {}};
}

Json to_json(const Row& row) {
  const bool has_clock = find_network(row.point.network).has_clock;
  return {{"schema", kRowSchema},
          {"sweep", row.sweep},
          {"key", row.key},
          {"version", row.version},
          {"status", kStatusNames.at(static_cast<std::size_t>(row.status))},
          {"reason", row.reason.empty() ? Json() : Json(row.reason)},
          {"point", to_json(row.point)},
          {"result", row.outcome ? to_json(*row.outcome, has_clock) : Json()},
          {"wall_s", row.wall_s},
          {"peak_rss_bytes", row.peak_rss_bytes}};
}

Row row_from(const Json& json, const std::string& origin) {
  try {
    if (!json.is_object() || !json.contains("schema")) {
      throw InputError("this is not a row of results (no key 'schema')");
    }
    if (json.at("schema").is_string()) {
      throw InputError(fmt::format(
          "/schema: '{}' is a report, not results, which sweep -o and run --format jsonl write",
          json.at("schema").get<std::string>()));
    }
    if (json.at("schema") != kRowSchema) {
      throw InputError(fmt::format("/schema: rows of schema {} are read here, this one is of {}",
                                   kRowSchema, json.at("schema").dump()));
    }
    Row row{.sweep = json.at("sweep").get<std::string>(),
            .key = json.at("key").get<std::string>(),
            .version = json.at("version").get<std::string>(),
            .point = point_from(json.at("point"), "/point"),
            .status = status_from(json.at("status").get<std::string>()),
            .reason = json.at("reason").is_null() ? "" : json.at("reason").get<std::string>(),
            .outcome = {},
            .wall_s = json.at("wall_s").get<double>(),
            .peak_rss_bytes = json.at("peak_rss_bytes").get<std::int64_t>()};
    if (row.status == Status::ok) {
      row.outcome = outcome_from(json.at("result"), row.point.machine);
    }
    return row;
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: not a row of results: {}", origin, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", origin, error.what()));
  }
}

}  // namespace thinwire::experiment
