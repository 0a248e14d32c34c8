#include "sim/app/report/tables/benchmark_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/app/report/tables/records.hpp"
#include "sim/app/report/tables/varying.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::report {

namespace {

using algorithms::Collective;

/// What follows from the size: at one density, small sizes have a k of another one.
bool follows_size(const std::string& key) { return key == "density" || key == "granule"; }

/// A setting as a heading names it.
std::string setting_text(const Json& settings, const std::string& key) {
  const Json& value = settings.at(key);
  return fmt::format(", {} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
}

/// A point as the heading of a table names it: everything but its size, as far as the rows differ.
std::string heading_of(const results::Row& row, const std::vector<std::string>& varying) {
  const Json settings = flat_settings(row.point);
  std::string text = fmt::format("{} on {} ranks, network {}", row.point.scheme->name,
                                 row.point.ranks, row.point.network->name);
  if (!row.point.platform.empty()) text += fmt::format(", platform {}", row.point.platform);
  for (const std::string& key : varying) {
    if (key == "scheme" || key == "ranks" || key == "network" || key == "platform" ||
        key == "components" || key == "k" || follows_size(key) || !settings.contains(key)) {
      continue;
    }
    text += setting_text(settings, key);
  }
  return text;
}

std::int64_t bytes_of(const results::Row& row) {
  return to_bytes(Words(row.point.space.components)).value();
}

/// The rows of a table.
using Members = std::vector<const results::Row*>;

struct Table {
  std::string name;
  Members members;
  bool alone = true;  ///< no other table has this name
};

/// Each row joins the first table of its name that does not have its size yet, so that the rows of
/// several densities make a table each.
std::vector<Table> tables_in(const std::vector<results::Row>& rows,
                             const std::vector<std::string>& varying) {
  std::vector<Table> tables;
  for (const results::Row& row : rows) {
    const std::string name = heading_of(row, varying);
    const auto has_size = [&](const results::Row* other) {
      return other->point.space.components == row.point.space.components;
    };
    Table* first = nullptr;
    bool named = false;
    for (Table& table : tables) {
      if (table.name != name) continue;
      named = true;
      if (std::ranges::any_of(table.members, has_size)) {
        table.alone = false;
      } else if (first == nullptr) {
        first = &table;
      }
    }
    if (first == nullptr) {
      tables.push_back({.name = name, .members = {}, .alone = !named});
      first = &tables.back();
    }
    first->members.push_back(&row);
  }
  return tables;
}

/// The tables: rows that have everything but their size in common.
template <class Heading, class Line, class End>
std::string tables_of(const std::vector<results::Row>& rows, const Heading& heading,
                      const Line& line, const End& end) {
  std::vector<Json> settings;
  for (const results::Row& row : rows) {
    check_benchmark_point(row.point);
    settings.push_back(flat_settings(row.point));
  }
  const std::vector<std::string> varying = varying_settings(settings);
  std::string text;
  for (const auto& [name, members, alone] : tables_in(rows, varying)) {
    if (!text.empty()) text += '\n';
    std::string full_name = name;
    const Json largest = flat_settings(members.back()->point);
    for (const std::string& key : varying) {
      if (!alone && follows_size(key) && largest.contains(key)) {
        full_name += setting_text(largest, key);
      }
    }
    text += heading(members, full_name);
    double bus = 0;
    int lines = 0;
    for (const results::Row* row : members) {
      if (row->outcome) {
        bus += line(text, *row);
        ++lines;
      } else {
        text += fmt::format("# {} bytes: {}\n", bytes_of(*row), row->reason);
      }
    }
    text += end(*members.front(), lines == 0 ? 0 : bus / lines);
  }
  return text;
}

Collective collective_of(const results::Row& row) { return row.point.scheme->collective_kind; }

/// Names for all collectives but ping_pong, in the order of Collective.
using NamesOfCollectives = std::array<const char*, 4>;
constexpr NamesOfCollectives kNcclPrograms{"all_reduce_perf", "all_gather_perf",
                                           "reduce_scatter_perf", "alltoall_perf"};
constexpr NamesOfCollectives kOsuNames{"Allreduce", "Allgather", "Reduce_scatter",
                                       "All-to-All Personalized Exchange"};

const char* name_in(const NamesOfCollectives& names, const results::Row& row) {
  const Collective collective = collective_of(row);
  if (collective != Collective::ping_pong) return names.at(static_cast<std::size_t>(collective));
  throw InputError(
      "--format: nccl and osu print collectives, but ping_pong is not one; take table, csv or "
      "jsonl");
}

constexpr double kMicrosecond = 1e-6;
constexpr double kGigabyte = 1e9;

/// How nccl-tests say what sizes there are: "minBytes 8 maxBytes 128 step: 2(factor)". The step is a
/// factor or a number of bytes; 0 if there is neither.
std::string sizes_text(const Members& members) {
  const std::int64_t least = bytes_of(*members.front());
  const std::int64_t most = bytes_of(*members.back());
  const bool several = members.size() > 1;
  std::int64_t factor = several && least > 0 ? bytes_of(*members[1]) / least : 0;
  std::int64_t difference = several ? bytes_of(*members[1]) - least : 0;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const std::int64_t before = bytes_of(*members[i - 1]);
    if (bytes_of(*members[i]) != factor * before) factor = 0;
    if (bytes_of(*members[i]) - before != difference) difference = 0;
  }
  return fmt::format("minBytes {} maxBytes {} step: {}({})", least, most,
                     factor > 1 ? factor : difference, factor > 1 ? "factor" : "bytes");
}

/// A line for each rank, as of a GPU. Without a platform each rank is on a node of its own.
std::string devices_text(const Members& members) {
  int node = 1;
  for (const results::Row* row : members) {
    if (row->outcome) node = std::max(node, row->outcome->machine.node);
  }
  std::string text;
  for (int rank = 0; rank < members.front()->point.ranks; ++rank) {
    const int device = rank % node;
    fmt::format_to(
        std::back_inserter(text),
        "#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [0000:{:02x}:00] simulated\n", rank,
        0, 0, fmt::format("node{}", rank / node), device, device);
  }
  return text;
}

/// Microseconds in seven places, as nccl-tests print them.
std::string seven_places(double microseconds) {
  if (microseconds >= 10000) return fmt::format("{:7.0f}", microseconds);
  if (microseconds >= 100) return fmt::format("{:7.1f}", microseconds);
  return fmt::format("{:7.2f}", microseconds);
}

}  // namespace

void check_benchmark_point(const plan::Point& point) {
  if (!point.workload.model.empty()) {
    throw InputError(
        "--format: nccl and osu have the time of a collective alone; leave --model out, or take "
        "csv or jsonl");
  }
  if (!point.network->has_clock) {
    throw InputError("--format: nccl and osu print times, but the network {} has none",
                     point.network->name);
  }
}

std::string nccl_tests_text(const std::vector<results::Row>& rows) {
  const auto heading = [](const Members& members, const std::string& name) {
    const results::Row& row = *members.front();
    return fmt::format(
        "# Collective test starting: {}\n"
        "# nThread 1 nGpus 1 {} warmup iters: 0 iters: {} agg iters: 1 validation: 1 graph: 0\n"
        "# simulated by Thinwire {}: {}\n"
        "#\n"
        "# Using devices\n"
        "{}"
        "#\n"
        "#{:>73}{:>34}\n"
        "#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  {:>6} "
        "{:>6}\n"
        "#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  {:>6}\n",
        name_in(kNcclPrograms, row), sizes_text(members), std::max(1, row.point.iterations),
        version(), name, devices_text(members), "out-of-place", "in-place", "size", "count", "type",
        "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong",
        "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)",
        "(GB/s)");
  };
  const auto line = [](std::string& text, const results::Row& row) {
    const Collective collective = collective_of(row);
    const bool reduces =
        collective == Collective::allreduce || collective == Collective::reduce_scatter;
    const std::int64_t words = row.point.space.components;
    const std::int64_t count =
        collective == Collective::allreduce ? words : words / row.point.data_ranks();
    const double seconds = row.outcome->mean_time().value();
    const double algorithm =
        seconds > 0 ? static_cast<double>(bytes_of(row)) / seconds / kGigabyte : 0;
    const double bus = algorithm * bus_factor(collective, row.point.data_ranks());
    const std::string figures = fmt::format(
        "{}  {:6.2f}  {:6.2f} {:6}", seven_places(seconds / kMicrosecond), algorithm, bus, 0);
    fmt::format_to(std::back_inserter(text), "{:12}  {:12}  {:>8}  {:>6}  {:6}  {}  {}\n",
                   bytes_of(row), count, "float", reduces ? "sum" : "none", -1, figures, figures);
    return bus;
  };
  const auto end = [](const results::Row& row, double bus) {
    return fmt::format(
        "# Out of bounds values : 0 OK\n"
        "# Avg bus bandwidth    : {:g} \n"
        "#\n"
        "# Collective test concluded: {}\n",
        bus, name_in(kNcclPrograms, row));
  };
  return tables_of(rows, heading, line, end);
}

std::string osu_text(const std::vector<results::Row>& rows) {
  // Scripts take the version from the title, and may count the lines of the heading.
  const auto heading = [](const Members& members, const std::string& name) {
    return fmt::format(
        "\n# OSU MPI {} Latency Test v7.4 (simulated by Thinwire {}: {})\n"
        "# Datatype: MPI_FLOAT.\n"
        "# Size       Avg Latency(us)\n",
        name_in(kOsuNames, *members.front()), version(), name);
  };
  const auto line = [](std::string& text, const results::Row& row) {
    const Collective collective = collective_of(row);
    const bool blocks = collective == Collective::allgather || collective == Collective::alltoall;
    const std::int64_t bytes = bytes_of(row);
    fmt::format_to(std::back_inserter(text), "{:<10}{:>18.2f}\n",
                   blocks ? bytes / row.point.data_ranks() : bytes,
                   row.outcome->mean_time().value() / kMicrosecond);
    return 0.0;
  };
  const auto end = [](const results::Row&, double) { return std::string(); };
  return tables_of(rows, heading, line, end);
}

}  // namespace thinwire::report
