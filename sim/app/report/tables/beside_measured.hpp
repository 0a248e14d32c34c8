// Measured times beside simulated ones of the same points.
#pragma once

#include <vector>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/results/row.hpp"

namespace thinwire::report {

/// One record, of schema beside_measured/1, for each measured row (network mpi) and each simulated
/// row of the same computation: scheme, options, ranks, components and, for sparse schemes, k, the
/// gradients and the seed. Network, machine and platform may differ, and the number of iterations. A
/// measured row without any has a record whose simulated columns are null. The formula is the
/// simulated row's, with the α and β of its machine or platform. Rows without a time are left out.
[[nodiscard]] std::vector<Json> beside_measured(const std::vector<results::Row>& rows);
[[nodiscard]] std::vector<Column> beside_measured_columns();
/// The same pairs as the figure of measured times draws them: rows like those that 'validate' prints,
/// which say their panel (network and platform, collective, ranks) and name sparse schemes with their
/// density.
[[nodiscard]] std::vector<Json> measured_curves(const std::vector<results::Row>& rows);

}  // namespace thinwire::report
