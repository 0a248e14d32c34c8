// Drawings as PNG.
#pragma once

#include <string>

namespace thinwire::report {

/// The bytes of a PNG of an SVG, `scale` pixels for each of its units, drawn by librsvg in a child
/// process. Throws SimulationError where that fails.
[[nodiscard]] std::string png_of(const std::string& svg, double scale = 2);

}  // namespace thinwire::report
