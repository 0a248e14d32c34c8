#include "sim/app/report/tables/benchmark_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/app/report/tables/records.hpp"
#include "sim/app/report/tables/varying.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::report {

namespace {

using algorithms::Collective;

/// A point as the heading of a table names it: everything but its size, as far as the rows differ.
std::string heading_of(const experiment::Row& row, const std::vector<std::string>& varying) {
  const Json settings = flat_settings(row.point);
  std::string text = fmt::format("{} on {} ranks, network {}", row.point.scheme, row.point.ranks,
                                 row.point.network);
  if (!row.point.platform.empty()) text += fmt::format(", platform {}", row.point.platform);
  for (const std::string& key : varying) {
    if (key == "scheme" || key == "ranks" || key == "network" || key == "platform" ||
        key == "components" || key == "k" || !settings.contains(key)) {
      continue;
    }
    const Json& value = settings.at(key);
    text +=
        fmt::format(", {} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

/// The tables: rows that have everything but their size in common.
template <class Heading, class Line>
std::string tables_of(const std::vector<experiment::Row>& rows, const Heading& heading,
                      const Line& line, const std::string& end) {
  std::vector<Json> settings;
  for (const experiment::Row& row : rows) {
    check_benchmark_point(row.point);
    settings.push_back(flat_settings(row.point));
  }
  const std::vector<std::string> varying = varying_settings(settings);
  std::vector<std::pair<std::string, std::vector<const experiment::Row*>>> tables;
  for (const experiment::Row& row : rows) {
    const std::string name = heading_of(row, varying);
    const auto known =
        std::ranges::find(tables, name, [](const auto& table) { return table.first; });
    if (known == tables.end()) {
      tables.push_back({name, {&row}});
    } else {
      known->second.push_back(&row);
    }
  }
  std::string text;
  for (const auto& [name, members] : tables) {
    if (!text.empty()) text += '\n';
    text += heading(*members.front(), name);
    double bus = 0;
    int lines = 0;
    for (const experiment::Row* row : members) {
      if (row->outcome) {
        bus += line(text, *row);
        ++lines;
      } else {
        text += fmt::format("# {} bytes: {}\n",
                            to_bytes(Words(row->point.space.components)).value(), row->reason);
      }
    }
    if (!end.empty()) text += fmt::format(fmt::runtime(end), lines == 0 ? 0 : bus / lines);
  }
  return text;
}

Collective collective_of(const experiment::Row& row) {
  return algorithms::find_scheme(row.point.scheme).collective_kind;
}

[[noreturn]] void refuse_ping_pong(const char* format) {
  throw InputError(fmt::format(
      "--format {} prints collectives, and ping_pong is none; take table, csv or jsonl", format));
}

/// The name of the program of nccl-tests.
const char* nccl_program(Collective collective) {
  switch (collective) {
    case Collective::allgather:
      return "all_gather_perf";
    case Collective::reduce_scatter:
      return "reduce_scatter_perf";
    case Collective::alltoall:
      return "alltoall_perf";
    case Collective::ping_pong:
      refuse_ping_pong("nccl");
    case Collective::allreduce:
      break;
  }
  return "all_reduce_perf";
}

const char* osu_name(Collective collective) {
  switch (collective) {
    case Collective::allgather:
      return "Allgather";
    case Collective::reduce_scatter:
      return "Reduce_scatter";
    case Collective::alltoall:
      return "All-to-All Personalized Exchange";
    case Collective::ping_pong:
      refuse_ping_pong("osu");
    case Collective::allreduce:
      break;
  }
  return "Allreduce";
}

constexpr double kMicrosecond = 1e-6;
constexpr double kGigabyte = 1e9;

/// Microseconds in seven places, as nccl-tests print them.
std::string seven_places(double microseconds) {
  if (microseconds >= 10000) return fmt::format("{:7.0f}", microseconds);
  if (microseconds >= 100) return fmt::format("{:7.1f}", microseconds);
  return fmt::format("{:7.2f}", microseconds);
}

}  // namespace

void check_benchmark_point(const experiment::Point& point) {
  if (!point.workload.model.empty()) {
    throw InputError(
        "--format: nccl and osu have the time of a collective alone; leave --model out, or take "
        "csv or jsonl");
  }
  if (!experiment::find_network(point.network).has_clock) {
    throw InputError(fmt::format("--format: nccl and osu have times, and the network {} has none",
                                 point.network));
  }
}

std::string nccl_tests_text(const std::vector<experiment::Row>& rows) {
  const auto heading = [](const experiment::Row& row, const std::string& name) {
    return fmt::format(
        "# Collective test starting: {}\n"
        "# simulated by Thinwire {}: {}\n"
        "#\n"
        "#{:>73}{:>34}\n"
        "#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  {:>6} "
        "{:>6}\n"
        "#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  {:>6}\n",
        nccl_program(collective_of(row)), version(), name, "out-of-place", "in-place", "size",
        "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw",
        "busbw", "#wrong", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
        "(GB/s)", "(GB/s)");
  };
  const auto line = [](std::string& text, const experiment::Row& row) {
    const Collective collective = collective_of(row);
    const bool reduces =
        collective == Collective::allreduce || collective == Collective::reduce_scatter;
    const std::int64_t words = row.point.space.components;
    const std::int64_t count =
        collective == Collective::allreduce ? words : words / row.point.ranks;
    const double seconds = row.outcome->mean_time().value();
    const double algorithm =
        seconds > 0 ? static_cast<double>(to_bytes(Words(words)).value()) / seconds / kGigabyte : 0;
    const double bus = algorithm * bus_factor(collective, row.point.ranks);
    const std::string figures = fmt::format(
        "{}  {:6.2f}  {:6.2f} {:6}", seven_places(seconds / kMicrosecond), algorithm, bus, 0);
    fmt::format_to(std::back_inserter(text), "{:12}  {:12}  {:>8}  {:>6}  {:6}  {}  {}\n",
                   to_bytes(Words(words)).value(), count, "float", reduces ? "sum" : "none", -1,
                   figures, figures);
    return bus;
  };
  return tables_of(rows, heading, line,
                   "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {:g} \n#\n");
}

std::string osu_text(const std::vector<experiment::Row>& rows) {
  const auto heading = [](const experiment::Row& row, const std::string& name) {
    return fmt::format(
        "\n# OSU MPI {} Latency Test, simulated by Thinwire {}\n"
        "# {}\n"
        "# Datatype: MPI_FLOAT.\n"
        "# Size       Avg Latency(us)\n",
        osu_name(collective_of(row)), version(), name);
  };
  const auto line = [](std::string& text, const experiment::Row& row) {
    const Collective collective = collective_of(row);
    const bool blocks = collective == Collective::allgather || collective == Collective::alltoall;
    const std::int64_t bytes = to_bytes(Words(row.point.space.components)).value();
    fmt::format_to(std::back_inserter(text), "{:<10}{:>18.2f}\n",
                   blocks ? bytes / row.point.ranks : bytes,
                   row.outcome->mean_time().value() / kMicrosecond);
    return 0.0;
  };
  return tables_of(rows, heading, line, "");
}

}  // namespace thinwire::report
