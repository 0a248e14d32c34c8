// Which runs a setting can change, among those that read it: the column `effect` of the table in
// settings.cpp. effects.hpp refuses settings that change none.
#pragma once

#include "sim/app/plan/settings.hpp"

namespace thinwire::plan {

/// Whether a result depends on the values of gradients, which are selected, sent, or kept.
[[nodiscard]] bool looks_at_values(const Point& point, const algorithms::SchemeInfo& scheme);

/// Whether the network draws at random: noise, routes, or what others send.
[[nodiscard]] bool network_draws(const Point& point);

/// Of settings of the values of gradients.
extern const Effect kOfValues;
/// Of the scale of gradients, which changes over iterations.
extern const Effect kOfScale;
/// Of how many entries accumulators hold.
extern const Effect kOfEntries;
/// Of seeds.
extern const Effect kOfDraws;
/// Of carrying what was not sent.
extern const Effect kOfResiduals;
/// Of paying for what is kept.
extern const Effect kOfPaidResiduals;
/// Of the lengths of values.
extern const Effect kOfValueBits;
/// Of the lengths of indexes.
extern const Effect kOfIndexes;
/// Of the price of sums.
extern const Effect kOfSums;
/// Of what takes time beside messages and sums.
extern const Effect kOfTime;
/// Of the prices of copies and of buffers that collectives of MPI make.
extern const Effect kOfCopies;
extern const Effect kOfBuffers;
/// Of registering these buffers.
extern const Effect kOfRegistration;
/// Of ranks that are slower than others.
extern const Effect kOfSlowRanks;
/// Of few destinations at once.
extern const Effect kOfDestinations;
/// Of the sizes of tensors.
extern const Effect kOfTensors;

}  // namespace thinwire::plan
