// Which runs read a setting. A setting that is given and that no run of a command reads is noted or
// refused (plan.hpp).
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/point.hpp"

namespace thinwire::plan {

/// What must hold for a run to read a setting.
struct Circumstance {
  bool (*on)(const Point& point) = nullptr;
  /// Without `on`, the scheme alone decides. Beside it, these are the schemes whose runs read the
  /// setting in any case.
  bool (*of_scheme)(const algorithms::SchemeInfo& scheme) = nullptr;
  /// Why a run does not read the setting otherwise, and what to do; {} stands for the names of the
  /// schemes of `of_scheme`.
  const char* otherwise = "";
  const char* readers = "";  ///< these runs, as documents name them; empty: not named
  /// The network, the platform, the model and the input alone decide it, before all else is settled;
  /// a run without it runs as without the setting.
  bool chosen = false;
  bool refused = false;  ///< the setting contradicts such a run, which does not begin
};

extern const Circumstance kWithPlatform;
extern const Circumstance kWithoutPlatform;
extern const Circumstance kWithModel;
extern const Circumstance kWithoutModel;
/// Ranks share the layers of a model.
extern const Circumstance kWithTensorGroups;
extern const Circumstance kWithProfile;
extern const Circumstance kSynthetic;
/// Gradients leave residuals. Recorded ones and a profile's do not: they are accumulators.
extern const Circumstance kOfGradients;
/// Messages are flows, and none packets.
extern const Circumstance kWithoutPackets;
/// Messages are eager; fetching them takes time, and few ranks are reached at once.
extern const Circumstance kWithEager;
extern const Circumstance kWithFetching;
extern const Circumstance kWithFewDestinations;
/// Buffers take time.
extern const Circumstance kWithPricedBuffers;
/// Local work takes time.
extern const Circumstance kWithWork;
/// A rank is slow.
extern const Circumstance kWithSlowRanks;
/// Slow ranks are slower than others.
extern const Circumstance kSlowsRanks;
/// Results depend on the values of gradients,
extern const Circumstance kOfValues;
/// on their scale, which changes over iterations,
extern const Circumstance kOfScale;
/// on how many entries accumulators hold,
extern const Circumstance kOfEntries;
/// or on random draws.
extern const Circumstance kOfDraws;
/// Something is left to be carried to the next iteration, or paid for.
extern const Circumstance kOfResiduals;
extern const Circumstance kOfPaidResiduals;
/// Values and indexes have lengths on the wire.
extern const Circumstance kOfValueBits;
extern const Circumstance kOfIndexes;
/// Time passes;
extern const Circumstance kOfTime;
/// it is spent on calls of collectives, on their sums and copies, on buffers that they allocate, or on
/// registering these.
extern const Circumstance kOfCalls;
extern const Circumstance kOfSums;
extern const Circumstance kOfCopies;
extern const Circumstance kOfBuffers;
extern const Circumstance kOfRegistration;
/// There are more ranks than one reaches at once.
extern const Circumstance kOfDestinations;
/// A scheme looks at tensors.
extern const Circumstance kOfTensors;

/// Whether a point has a place for a setting with these columns: its network is one of these, and all
/// circumstances that are chosen hold.
[[nodiscard]] bool has_place_for(NetworkSet networks, const std::vector<const Circumstance*>& when,
                                 const Point& point);
/// The names of the schemes of the registry for which the circumstance holds: "deft, dragonn".
[[nodiscard]] std::string schemes_with(const Circumstance& circumstance);
/// `otherwise` with these names.
[[nodiscard]] std::string text_of(const Circumstance& circumstance);
[[nodiscard]] bool holds(const Circumstance& circumstance, const Point& point);

/// Whether a result depends on the values of gradients, which are selected, sent, or kept.
[[nodiscard]] bool looks_at_values(const Point& point);
/// Whether the network draws at random: noise, routes, or what others send.
[[nodiscard]] bool network_draws(const Point& point);

}  // namespace thinwire::plan
