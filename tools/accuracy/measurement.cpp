#include "tools/accuracy/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "sim/app/plan/network_info.hpp"
#include "sim/app/results/lines_file.hpp"
#include "sim/app/run/networks.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/hash.hpp"
#include "sim/core/base/version.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"

namespace thinwire::accuracy {

namespace {

constexpr std::array<const char*, 3> kStatusNames{"ok", "failed", "too_slow"};  // as CellStatus

CellStatus status_from(const std::string& name) {
  const auto* const found = std::ranges::find(kStatusNames, name);
  if (found == kStatusNames.end()) {
    throw InputError("/status: '{}' is none of {}", name, fmt::join(kStatusNames, ", "));
  }
  return static_cast<CellStatus>(found - kStatusNames.begin());
}

std::optional<double> number_or_null(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

/// Whether the α-β machine runs beside it; once per cell suffices.
bool has_alphabeta(const plan::Point& point) { return point.network == "smpi" && !point.packets; }

Json result_of_pattern(const Cell& cell, const plan::Point& point, run::ReadyNetwork& ready) {
  const RankProgram program = pattern_named(cell.pattern)->program(cell.ranks, messages_of(cell));
  const RunReport report = ready.network->run(cell.ranks, program);
  Json alphabeta;
  if (has_alphabeta(point)) {
    alphabeta = run::alphabeta_of(ready.machine)->run(cell.ranks, program).makespan().value();
  }
  Traffic total;
  for (const RankReport& rank : report.ranks) {
    const Traffic traffic = rank.total();
    total.messages_sent += traffic.messages_sent;
    total.words_sent += traffic.words_sent;
  }
  return {{"time_s", report.makespan().value()},
          {"alphabeta_s", alphabeta},
          {"messages", total.messages_sent},
          {"words", total.words_sent.value()}};
}

/// Reads the result from a measurement's line or from the output of a pattern's child.
void take_result(Measurement& m, const Json& json) {
  m.time_s = json.at("time_s").get<double>();
  m.alphabeta_s = number_or_null(json.at("alphabeta_s"));
  m.messages = json.at("messages").get<std::int64_t>();
  m.words = json.at("words").get<std::int64_t>();
}

void take_scheme(Measurement& m, const results::Row& row) {
  if (!row.outcome) throw SimulationError(row.reason);
  const auto total = [&](const results::Spread& spread) {
    return std::llround(spread.mean * row.point.ranks);
  };
  m.time_s = row.outcome->time().value();
  if (row.outcome->alphabeta_time) m.alphabeta_s = row.outcome->alphabeta_time->value();
  m.messages = total(row.outcome->messages_sent);
  m.words = total(row.outcome->words_sent);
  m.peak_rss_bytes = row.peak_rss_bytes;
}

Measurement measurement_from(const Json& json) {
  if (!json.is_object() || json.value("schema", Json()) != kMeasurementSchema) {
    throw InputError("this is no measurement of schema {}", kMeasurementSchema);
  }
  Measurement m;
  m.cell = cell_from(json);
  m.side.network = json.at("network").get<std::string>();
  m.side.settings = json.at("settings");
  m.platform_hash = json.at("platform_hash").get<std::string>();
  m.program = json.at("program").get<std::string>();
  m.status = status_from(json.at("status").get<std::string>());
  m.wall_s = json.at("wall_s").get<double>();
  m.limit_s = json.at("limit_s").get<double>();
  if (m.status != CellStatus::ok) {
    m.reason = json.at("reason").get<std::string>();
    return m;
  }
  take_result(m, json);
  m.peak_rss_bytes = json.at("peak_rss_bytes").get<std::int64_t>();
  return m;
}

}  // namespace

const char* name_of(CellStatus status) { return kStatusNames.at(static_cast<std::size_t>(status)); }

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(); }

Json to_json(const Measurement& m) {
  const bool ok = m.status == CellStatus::ok;
  Json json = {{"schema", kMeasurementSchema}};
  json.update(to_json(m.cell));
  json["network"] = m.side.network;
  json["settings"] = m.side.settings;
  json["platform_hash"] = m.platform_hash;
  json["program"] = m.program;
  json["status"] = name_of(m.status);
  json["reason"] = ok ? Json() : Json(m.reason);
  json["time_s"] = ok ? Json(m.time_s) : Json();
  json["alphabeta_s"] = or_null(m.alphabeta_s);
  json["messages"] = ok ? Json(m.messages) : Json();
  json["words"] = ok ? Json(m.words) : Json();
  json["wall_s"] = m.wall_s;
  json["limit_s"] = m.limit_s;
  json["peak_rss_bytes"] = ok ? Json(m.peak_rss_bytes) : Json();
  return json;
}

std::vector<Measurement> measurements_from(const std::string& text, const std::string& path) {
  std::vector<Measurement> all;
  results::for_each_json_line(text, path, [&](const Json& line, const std::string& at) {
    try {
      all.push_back(measurement_from(line));
    } catch (const std::exception& error) {
      throw InputError("{}: {}", at, error.what());
    }
  });
  return all;
}

std::string program_of(const std::string& network) {
  if (network == "smpi") return "SimGrid " + networks::simgrid_version();
  std::string program = "Thinwire " + version();
  if (version_is_uncertain()) program += " " + hash_of_file("/proc/self/exe");
  return program;
}

ChildWork work_of(const Cell& cell, const plan::Point& point) {
  if (pattern_named(cell.pattern) == nullptr) {
    return run::work_of(point, {.alphabeta = has_alphabeta(point)});
  }
  const auto ready = std::make_shared<run::ReadyNetwork>();
  return {.subject = point.platform,
          .prepare = [ready, point] { *ready = run::make_network(point, false); },
          .run = [ready, point, cell] { return result_of_pattern(cell, point, *ready).dump(); }};
}

Measurement measured(Measurement wanted, const plan::Point& point, const ChildProcess& child) {
  Measurement m = std::move(wanted);
  m.wall_s = child.wall_s();
  try {
    if (pattern_named(m.cell.pattern) != nullptr) {
      const ChildOutcome ended = child.outcome();
      take_result(m, Json::parse(ended.text));
      m.peak_rss_bytes = ended.peak_rss_bytes;
    } else {
      const run::EndedPoint ended = run::join("accuracy", point, &child);
      if (ended.refused) std::rethrow_exception(ended.refused);
      take_scheme(m, ended.row);
    }
  } catch (const std::bad_alloc&) {
    m.reason = "out of memory";
  } catch (const std::runtime_error& error) {
    m.reason = error.what();
  }
  if (!m.reason.empty()) {
    m.status = m.wall_s >= m.limit_s ? CellStatus::too_slow : CellStatus::failed;
  }
  return m;
}

}  // namespace thinwire::accuracy
