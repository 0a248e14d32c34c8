#include "sim/app/cli/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "algorithms/collectives/broadcast.hpp"
#include "algorithms/registry.hpp"
#include "sim/core/base/checked.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"

namespace thinwire::cli {

namespace {

using schedules::CollectiveKind;

struct KindOfSchemes {
  CollectiveKind kind;
  algorithms::Collective collective;
  const char* standard;
};
constexpr std::array<KindOfSchemes, 4> kOfSchemes{
    {{CollectiveKind::allreduce, algorithms::Collective::allreduce, "dense_auto"},
     {CollectiveKind::allgather, algorithms::Collective::allgather, "allgather_ring"},
     {CollectiveKind::reduce_scatter, algorithms::Collective::reduce_scatter,
      "reduce_scatter_ring"},
     {CollectiveKind::alltoall, algorithms::Collective::alltoall, "alltoall_pairwise"}}};

constexpr std::int64_t kWordBytes = 4;

std::int64_t words_in(std::int64_t bytes) { return (bytes + kWordBytes - 1) / kWordBytes; }

}  // namespace

CollectiveSchemes::CollectiveSchemes() {
  for (const KindOfSchemes& one : kOfSchemes) schemes_[one.kind] = one.standard;
  schemes_[CollectiveKind::barrier] = "dense_recursive_doubling";
}

void CollectiveSchemes::set(const std::string& key_and_scheme) {
  const std::size_t equals = key_and_scheme.find('=');
  const std::string key = key_and_scheme.substr(0, equals);
  std::vector<std::string> known;
  for (const KindOfSchemes& one : kOfSchemes) known.push_back(algorithms::name_of(one.collective));
  const auto place = std::ranges::find(known, key) - known.begin();
  if (equals == std::string::npos || static_cast<std::size_t>(place) == known.size()) {
    throw InputError(
        "--collective: '{}' is not valid; expected COLLECTIVE=SCHEME, of {}, as in "
        "allreduce=nccl_ring{}",
        key_and_scheme, fmt::join(known, ", "), did_you_mean(key, known));
  }
  const KindOfSchemes& one = kOfSchemes.at(static_cast<std::size_t>(place));
  const std::string name = key_and_scheme.substr(equals + 1);
  const algorithms::SchemeInfo scheme = algorithms::find_scheme(name);
  if (scheme.collective_kind != one.collective || !scheme.dense) {
    throw InputError(
        "--collective: {} is not a dense scheme for {}; 'thinwire list schemes' shows which are",
        name, key);
  }
  schemes_[one.kind] = name;
}

const std::string& CollectiveSchemes::of(CollectiveKind kind) const { return schemes_.at(kind); }

TraceCollectives::TraceCollectives(plan::Point point, const plan::Machine& machine,
                                   CollectiveSchemes schemes)
    : point_(std::move(point)), machine_(machine), schemes_(std::move(schemes)) {}

plan::Point TraceCollectives::point_of(const schedules::CollectiveCall& call) const {
  std::int64_t words = words_in(call.bytes);
  // The vector of an allgather is what all ranks have together.
  if (call.kind == CollectiveKind::allgather) {
    // A vector that is too long is refused with the components of the point.
    words = checked_product<std::int64_t>(words, call.members.count)
                .value_or(std::numeric_limits<std::int64_t>::max());
  }
  plan::Point point = plan::point_from({{"scheme", schemes_.of(call.kind)},
                                        {"ranks", call.members.count},
                                        {"components", std::max<std::int64_t>(1, words)},
                                        {"network", "alphabeta"}},
                                       "--collective");
  point.machine = point_.machine;
  point.seed = point_.seed;
  return point;
}

/// Ranks of a node that are members, if all nodes have as many.
plan::Machine TraceCollectives::machine_of(const Members& members) const {
  plan::Machine machine = machine_;
  if (machine.node == 0) return machine;
  std::map<int, int> of_node;
  for (int i = 0; i < members.count; ++i) ++of_node[members.at(i).value() / machine_.node];
  const int node = of_node.begin()->second;
  of_node.erase(std::prev(of_node.end()));  // the last one may have fewer
  const bool equal =
      std::ranges::all_of(of_node, [&](const auto& one) { return one.second == node; });
  machine.node = equal && node > 1 ? node : 0;
  return machine;
}

Task<void> TraceCollectives::run(Communicator& group, const schedules::CollectiveCall& call) {
  if (group.size() == 1) co_return;
  if (call.kind != CollectiveKind::broadcast) {
    if (call.bytes == 0 && call.kind != CollectiveKind::barrier) co_return;
    co_await run_scheme(group, call);
    co_return;
  }
  static_cast<void>(co_await algorithms::broadcast(
      group, Rank(call.root), {.payload = {}, .words = Words(words_in(call.bytes))}));
}

Task<void> TraceCollectives::run_scheme(Communicator& group,
                                        const schedules::CollectiveCall& call) {
  Key key{call.members.key(), call.kind, call.bytes, 0};
  std::get<3>(key) = made_[{key, group.rank().value()}]++;
  Running& running = running_[key];
  if (!running.ranks) {
    running.ranks = std::make_unique<run::PointRanks>(point_of(call), machine_of(call.members));
    running.left = call.members.count;
  }
  {
    run::RankState state = running.ranks->make_rank();
    algorithms::LocalGradient gradient = running.ranks->gradient(state, group.rank(), 1);
    co_await running.ranks->iterate(group, state, std::move(gradient), 1);
  }
  if (--running.left == 0) running_.erase(key);
}

}  // namespace thinwire::cli
