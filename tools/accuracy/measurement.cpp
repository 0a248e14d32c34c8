#include "tools/accuracy/measurement.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <utility>

#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/run.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/version.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"

namespace thinwire::accuracy {

namespace {

struct StatusName {
  CellStatus status;
  const char* name;
};
constexpr std::array kStatusNames{StatusName{CellStatus::ok, "ok"},
                                  StatusName{CellStatus::failed, "failed"},
                                  StatusName{CellStatus::too_slow, "too_slow"}};

const char* name_of(CellStatus status) {
  for (const StatusName& one : kStatusNames) {
    if (one.status == status) return one.name;
  }
  return "";
}

CellStatus status_from(const std::string& name) {
  for (const StatusName& one : kStatusNames) {
    if (name == one.name) return one.status;
  }
  throw InputError(fmt::format("/status: '{}' is none of ok, failed, too_slow", name));
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::optional<double> number_or_null(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

/// Whether the α-β machine runs beside it: once a cell is enough.
bool has_alphabeta(const experiment::Point& point) {
  return point.network == "smpi" && !point.packets;
}

Json result_of_pattern(const Cell& cell, const experiment::Point& point,
                       experiment::ReadyNetwork& ready) {
  const RankProgram program = pattern_named(cell.pattern)->program(cell.ranks, messages_of(cell));
  const RunReport report = ready.network->run(cell.ranks, program);
  Json alphabeta;
  if (has_alphabeta(point)) {
    alphabeta =
        experiment::alphabeta_of(ready.machine)->run(cell.ranks, program).makespan().value();
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

Json result_of_scheme(const experiment::Point& point, experiment::PointRun& run) {
  run.alphabeta =
      has_alphabeta(point) ? experiment::AlphaBetaTime::after : experiment::AlphaBetaTime::none;
  const experiment::Outcome outcome = run.run();
  if (!outcome.ranks_agree) {
    throw SimulationError("the ranks ended with different reduced gradients");
  }
  const auto total = [&](const experiment::Spread& spread) {
    return std::llround(spread.mean * point.ranks);
  };
  return {{"time_s", outcome.time().value()},
          {"alphabeta_s", outcome.alphabeta_time ? Json(outcome.alphabeta_time->value()) : Json()},
          {"messages", total(outcome.messages_sent)},
          {"words", total(outcome.words_sent)}};
}

ChildWork work_of(const Cell& cell, const experiment::Point& point,
                  const std::string& platform_file) {
  ChildWork work;
  work.subject = platform_file;
  if (pattern_named(cell.pattern) != nullptr) {
    const auto ready = std::make_shared<experiment::ReadyNetwork>();
    work.prepare = [ready, point] {
      *ready = experiment::find_network(point.network).make(point, false);
    };
    work.run = [ready, point, cell] { return result_of_pattern(cell, point, *ready).dump(); };
  } else {
    const auto ready = std::make_shared<std::optional<experiment::PointRun>>();
    work.prepare = [ready, point] { ready->emplace(point); };
    work.run = [ready, point] { return result_of_scheme(point, **ready).dump(); };
  }
  return work;
}

Measurement measurement_from(const Json& json) {
  if (!json.is_object() || json.value("schema", Json()) != kMeasurementSchema) {
    throw InputError(fmt::format("this is no measurement of schema {}", kMeasurementSchema));
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
  m.time_s = json.at("time_s").get<double>();
  m.alphabeta_s = number_or_null(json.at("alphabeta_s"));
  m.messages = json.at("messages").get<std::int64_t>();
  m.words = json.at("words").get<std::int64_t>();
  m.peak_rss_bytes = json.at("peak_rss_bytes").get<std::int64_t>();
  return m;
}

}  // namespace

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
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() && lines.eof()) break;  // it was being written
    try {
      all.push_back(measurement_from(json));
    } catch (const std::exception& error) {
      throw InputError(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return all;
}

std::string program_of(const std::string& network) {
  if (network == "smpi") return "SimGrid " + networks::simgrid_version();
  std::string program = "Thinwire " + version();
  if (version_is_uncertain()) program += " " + hash_of_file("/proc/self/exe");
  return program;
}

std::string hash_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  std::vector<char> piece(1 << 20);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
      const auto byte = static_cast<unsigned char>(piece[static_cast<std::size_t>(i)]);
      hash = (hash ^ byte) * 0x100000001b3U;
    }
  }
  return fmt::format("{:016x}", hash);
}

CellRun::CellRun(Measurement wanted, const std::string& platform_file)
    : wanted_(std::move(wanted)), begin_(std::chrono::steady_clock::now()) {
  const experiment::Point point = point_of(wanted_.cell, wanted_.side, platform_file);
  child_ = std::make_unique<ChildProcess>(work_of(wanted_.cell, point, platform_file),
                                          ChildLimits{.seconds = wanted_.limit_s});
}

Measurement CellRun::finish() const {
  Measurement m = wanted_;
  m.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const auto fail = [&](const std::string& reason) {
    m.status = m.wall_s >= m.limit_s ? CellStatus::too_slow : CellStatus::failed;
    m.reason = reason;
  };
  try {
    const ChildOutcome child = child_->outcome();
    const Json result = Json::parse(child.text);
    m.time_s = result.at("time_s").get<double>();
    m.alphabeta_s = number_or_null(result.at("alphabeta_s"));
    m.messages = result.at("messages").get<std::int64_t>();
    m.words = result.at("words").get<std::int64_t>();
    m.peak_rss_bytes = child.peak_rss_bytes;
  } catch (const SimulationError& error) {
    fail(error.what());
  } catch (const InputError& error) {
    fail(error.what());
  } catch (const std::bad_alloc&) {
    fail("out of memory");
  }
  return m;
}

}  // namespace thinwire::accuracy
