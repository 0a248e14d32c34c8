// The report as one self-contained HTML page. Its sources are in page/; the build bundles them.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/charts/figures.hpp"
#include "sim/app/report/charts/link_map.hpp"

namespace thinwire::report {

struct Report {
  std::string title = {};            ///< empty: a general one
  std::vector<std::string> sources;  ///< the files that were read
  std::size_t rows = 0;
  Figures figures;
  std::vector<LinkMap> links;
  std::vector<Json> claims;      ///< made by claim_records
  std::vector<Json> validation;  ///< made by validation_records, and curves of trainings
};

/// Throws InputError if the program was built without the page (THINWIRE_REPORT_PAGE=OFF).
[[nodiscard]] std::string report_page(const Report& report);

}  // namespace thinwire::report
