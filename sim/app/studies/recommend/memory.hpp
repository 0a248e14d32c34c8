// The memory of a device, and what a training and its allreduce take of it.
#pragma once

#include <optional>
#include <string>

#include "sim/app/results/row.hpp"
#include "sim/app/studies/recommend/settings.hpp"

namespace thinwire::studies {

/// What a rank holds for a scheme beyond the training: what it keeps of its gradient, and for sparse
/// schemes its selection and what it receives, all at once. Dense schemes work in place.
[[nodiscard]] double memory_of(const results::Row& row);
/// The memory of the device in bytes, if its file knows it.
[[nodiscard]] std::optional<double> memory_of_device(const plan::Point& point);
/// Throws InputError if the training does not fit into the device's memory, whatever the scheme.
void check_memory(const RecommendSettings& settings, const plan::Point& point);
[[nodiscard]] std::string gigabytes(double bytes);

}  // namespace thinwire::studies
