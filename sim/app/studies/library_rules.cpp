#include "sim/app/studies/library_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sim/app/plan/point.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

namespace {

/// An algorithm of a library, and the scheme that is this algorithm.
struct LibraryAlgorithm {
  RulesOf library;
  std::string_view scheme;
  std::string_view algorithm;        ///< in the library's file
  std::string_view protocol = {};    ///< of NCCL, in its file
  std::int64_t protocol_option = 0;  ///< the scheme's option for it
};

/// Open MPI's numbers are the values of coll_tuned_*_algorithm in 4.1 (ompi_info --param coll tuned
/// --level 9).
constexpr std::array kAlgorithms{
    LibraryAlgorithm{RulesOf::nccl, "nccl_ring", "ring", "ll", 0},
    LibraryAlgorithm{RulesOf::nccl, "nccl_ring", "ring", "ll128", 1},
    LibraryAlgorithm{RulesOf::nccl, "nccl_ring", "ring", "simple", 2},
    LibraryAlgorithm{RulesOf::nccl, "nccl_tree", "tree", "ll", 0},
    LibraryAlgorithm{RulesOf::nccl, "nccl_tree", "tree", "ll128", 1},
    LibraryAlgorithm{RulesOf::nccl, "nccl_tree", "tree", "simple", 2},
    LibraryAlgorithm{RulesOf::open_mpi, "dense_recursive_doubling", "3"},
    LibraryAlgorithm{RulesOf::open_mpi, "dense_ring", "4"},
    LibraryAlgorithm{RulesOf::open_mpi, "dense_ring_segmented", "5"},
    LibraryAlgorithm{RulesOf::open_mpi, "dense_rabenseifner", "6"},
    LibraryAlgorithm{RulesOf::open_mpi, "allgather_bruck", "2"},
    LibraryAlgorithm{RulesOf::open_mpi, "allgather_recursive_doubling", "3"},
    LibraryAlgorithm{RulesOf::open_mpi, "allgather_ring", "4"},
    LibraryAlgorithm{RulesOf::open_mpi, "allgather_neighbor_exchange", "5"},
    LibraryAlgorithm{RulesOf::open_mpi, "alltoall_linear", "1"},
    LibraryAlgorithm{RulesOf::open_mpi, "alltoall_pairwise", "2"},
    LibraryAlgorithm{RulesOf::open_mpi, "alltoall_bruck", "3"},
    LibraryAlgorithm{RulesOf::open_mpi, "reduce_scatter_recursive_halving", "2"},
    LibraryAlgorithm{RulesOf::open_mpi, "reduce_scatter_ring", "3"}};

/// Open MPI's numbers of collectives (COLLTYPE in coll_base_functions.h).
const std::map<std::string, int>& open_mpi_collectives() {
  static const std::map<std::string, int> numbers{
      {"allgather", 0}, {"allreduce", 2}, {"alltoall", 3}, {"reduce_scatter", 12}};
  return numbers;
}

constexpr const char* kProtocol = "protocol";

const LibraryAlgorithm& algorithm_of(RulesOf library, const plan::Point& point) {
  const auto option = point.options.find(kProtocol);
  return *std::ranges::find_if(kAlgorithms, [&](const LibraryAlgorithm& known) {
    return known.library == library && known.scheme == point.scheme->name &&
           (known.protocol.empty() ||
            (option != point.options.end() &&
             std::get<std::int64_t>(option->second) == known.protocol_option));
  });
}

std::int64_t size_of(const results::Row& row) {
  return to_bytes(Words(row.point.space.components)).value();
}

/// The bytes of a segment of the ring in segments, 0 for other schemes.
std::int64_t segment_of(const plan::Point& point) {
  const auto option = point.options.find("segment_bytes");
  if (option == point.options.end()) return 0;
  const auto* const bytes = std::get_if<std::int64_t>(&option->second);
  return bytes == nullptr ? 0 : *bytes;
}

/// An algorithm is faster than one before it if its time is less by more than this share: times that
/// are equal but for rounding decide nothing.
constexpr double kTie = 1e-6;

/// The rows of one collective, number of ranks and size.
struct Contest {
  const results::Row* best = nullptr;
  double second = 0;  ///< the least time of the others, in seconds; 0: there are none

  void add(const results::Row& row) {
    const double time = row.outcome->time().value();
    if (best == nullptr) {
      best = &row;
      return;
    }
    const double least = best->outcome->time().value();
    const bool faster = time < least * (1 - kTie);
    const double loser = faster ? least : time;
    second = second == 0 ? loser : std::min(second, loser);
    if (faster) best = &row;
  }
};

}  // namespace

run::Sweep sweep_of_rules(RulesOf library, const Json& point, const std::vector<int>& ranks,
                          const std::vector<std::int64_t>& components) {
  run::Sweep sweep;
  sweep.name = "recommend";
  for (const LibraryAlgorithm& known : kAlgorithms) {
    if (known.library != library) continue;
    for (const int size : ranks) {
      for (const std::int64_t length : components) {
        Json one = point;
        one["scheme"] = known.scheme;
        one["ranks"] = size;
        one["components"] = length;
        one["iterations"] = 1;
        if (!known.protocol.empty()) one["options"] = {{kProtocol, known.protocol_option}};
        sweep.points.push_back(plan::point_from(one, "recommend"));
      }
    }
  }
  return sweep;
}

std::vector<LibraryRule> rules_of(RulesOf library, const std::vector<results::Row>& rows) {
  // By collective and ranks, then by size.
  std::map<std::pair<std::string, int>, std::map<std::int64_t, Contest>> contests;
  for (const results::Row& row : rows) {
    if (!row.outcome) continue;
    const auto collective = row.point.scheme->collective_kind;
    contests[{name_of(collective), row.point.ranks}][size_of(row)].add(row);
  }
  if (contests.empty()) throw SimulationError("no algorithm could be simulated");
  std::vector<LibraryRule> rules;
  for (const auto& [which, sizes] : contests) {
    std::int64_t before = 0;
    double logarithms = 0;
    int counted = 0;
    for (const auto& [bytes, contest] : sizes) {
      const std::string& scheme = contest.best->point.scheme->name;
      const LibraryAlgorithm& algorithm = algorithm_of(library, contest.best->point);
      if (before == 0 || rules.back().scheme != scheme ||
          rules.back().protocol != algorithm.protocol) {
        LibraryRule rule{.collective = which.first,
                         .ranks = which.second,
                         .most_bytes = kAnySize,
                         .algorithm = std::string(algorithm.algorithm),
                         .segment = segment_of(contest.best->point),
                         .scheme = scheme,
                         .protocol = std::string(algorithm.protocol)};
        if (before != 0) {
          rule.least_bytes =
              std::llround(std::sqrt(static_cast<double>(before) * static_cast<double>(bytes)));
          rules.back().most_bytes = rule.least_bytes - 1;
        }
        rules.push_back(std::move(rule));
        logarithms = 0;
        counted = 0;
      }
      const double best = contest.best->outcome->time().value();
      if (contest.second > 0 && best > 0) logarithms += std::log(contest.second / best);
      ++counted;
      rules.back().gain = std::exp(logarithms / counted);
      before = bytes;
    }
  }
  return rules;
}

std::string nccl_tuner_text(const std::vector<LibraryRule>& rules, const std::string& origin) {
  std::string text = fmt::format(
      "# {}\n# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,"
      "numPipeOps,regBuff\n",
      origin);
  // 0 channels: as many as NCCL takes. The file format's -1 should mean the same, but the plugin then
  // answers 1, and NCCL takes that for what was asked for.
  for (const LibraryRule& rule : rules) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},0,-1,{},-1,-1\n", rule.collective,
                   rule.least_bytes, rule.most_bytes, rule.algorithm, rule.protocol, rule.ranks);
  }
  return text;
}

std::string open_mpi_rules_text(const std::vector<LibraryRule>& rules, const std::string& origin) {
  std::map<int, std::map<int, std::vector<const LibraryRule*>>> by_collective;
  for (const LibraryRule& rule : rules) {
    by_collective[open_mpi_collectives().at(rule.collective)][rule.ranks].push_back(&rule);
  }
  std::string text = fmt::format("# {}\n{} # collectives\n", origin, by_collective.size());
  const auto out = std::back_inserter(text);
  for (const auto& [number, by_ranks] : by_collective) {
    fmt::format_to(out, "{} # {}\n{} # sizes of communicators\n", number,
                   by_ranks.begin()->second.front()->collective, by_ranks.size());
    for (const auto& [ranks, ranges] : by_ranks) {
      fmt::format_to(out, "{} # ranks\n{} # sizes of messages\n", ranks, ranges.size());
      for (const LibraryRule* rule : ranges) {
        fmt::format_to(out, "{} {} 0 {} # {}\n", rule->least_bytes, rule->algorithm, rule->segment,
                       rule->scheme);
      }
    }
  }
  return text;
}

}  // namespace thinwire::studies
