#include "sim/app/results/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/app/results/outcome_json.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::results {

namespace {

constexpr std::array<const char*, 3> kStatusNames{"ok", "skipped", "failed"};  // as Status

Status status_from(const JsonNode& node) {
  const auto* const found = std::ranges::find(kStatusNames, node.text());
  if (found == kStatusNames.end()) {
    node.wrong(fmt::format("one of {}", fmt::join(kStatusNames, ", ")));
  }
  return static_cast<Status>(found - kStatusNames.begin());
}

/// The point of a row. Every row names all options, so one that is absent is younger than the row:
/// hierarchical schemes had leaders before they had the option.
Json point_of_row(const Json& point) {
  Json known = point;
  if (!point.is_object() || !point.contains("scheme") || !point.contains("options")) return known;
  const Json& scheme = point.at("scheme");
  if (scheme == "hierarchical_ring" || scheme == "hierarchical_rabenseifner") {
    Json& options = known["options"];
    if (options.is_object() && !options.contains("leader")) options["leader"] = true;
  }
  return known;
}

}  // namespace

const char* name_of(Status status) { return kStatusNames.at(static_cast<std::size_t>(status)); }

Row failed_row(const std::string& sweep, const plan::Point& point, const std::string& reason) {
  return {.sweep = sweep,
          .key = plan::key_of(point),
          .version = version(),
          .point = point,
          .status = Status::failed,
          .reason = printable(reason),
          .outcome = {}};
}

Json to_json(const Row& row) {
  const bool has_clock = row.point.network->has_clock;
  Json json{{"schema", kRowSchema},
            {"sweep", row.sweep},
            {"key", row.key},
            {"version", row.version},
            {"status", name_of(row.status)},
            {"reason", row.reason.empty() ? Json() : Json(row.reason)},
            {"point", to_json(row.point)},
            {"result", row.outcome ? to_json(*row.outcome, has_clock) : Json()},
            {"wall_s", row.wall_s},
            {"peak_rss_bytes", row.peak_rss_bytes}};
  if (!row.unused.empty()) json["unused"] = row.unused;
  return json;
}

Row row_from(const Json& json, const std::string& origin) {
  const JsonNode node(origin, json);
  if (!json.is_object() || !json.contains("schema")) {
    throw InputError("{}: this is not a row of results (no key 'schema')", origin);
  }
  const Json& schema = json.at("schema");
  if (schema.is_string()) {
    refuse(origin, "/schema",
           fmt::format("'{}' is a report, not results, which sweep -o and run --format jsonl write",
                       schema.get<std::string>()));
  }
  if (schema != kRowSchema) {
    const bool newer = schema.is_number() && schema.get<double>() > kRowSchema;
    refuse(origin, "/schema",
           fmt::format("this version reads rows of schema {}, and this row has schema {}{}; {}",
                       kRowSchema, schema.dump(),
                       json.contains("version") && json.at("version").is_string()
                           ? ", of Thinwire " + json.at("version").get<std::string>()
                           : "",
                       newer ? "read it with that version or a later one"
                             : "simulate its points again with this version"));
  }
  Row row{.sweep = node.at("sweep").text(),
          .key = node.at("key").text(),
          .version = node.at("version").text(),
          .point = plan::point_from(point_of_row(node.at("point").json()), origin + ": /point"),
          .status = status_from(node.at("status")),
          .reason = node.at("reason").json().is_null() ? "" : node.at("reason").text(),
          .outcome = {},
          .wall_s = node.at("wall_s").number(),
          .peak_rss_bytes = node.at("peak_rss_bytes").whole()};
  if (node.has("unused")) {
    for (const JsonNode& path : node.at("unused").elements()) row.unused.push_back(path.text());
  }
  if (row.status == Status::ok) row.outcome = outcome_from(node.at("result"), row.point.machine);
  return row;
}

}  // namespace thinwire::results
