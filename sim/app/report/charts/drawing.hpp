// The module with all code that calls librsvg, cairo and fontconfig. What they keep is never freed:
// its functions are called in child processes.
#pragma once

#include <string>

#include "sim/core/base/module.hpp"

namespace thinwire::report {

inline constexpr Module kDrawing{.name = "drawing", .brings = "librsvg, which draws PNG and PDF"};

inline constexpr unsigned kMeasuredCharacters =
    0x400;  // Latin and Greek; "…" and other characters beyond count as one em

struct DrawingFunctions {
  /// An SVG as PDF or PNG, `scale` times as large. Throws SimulationError.
  std::string (*drawn)(const std::string& svg, bool pdf, double scale);
  /// The advance width of each measured character of a font, first regular, then bold.
  std::string (*advances)(const std::string& family);
  /// Whether fontconfig has a font of this name; otherwise cairo would take another one in its place.
  bool (*is_installed)(const std::string& family);
};

}  // namespace thinwire::report
