// Which scheme is an algorithm of a communication library.
#pragma once

#include <map>
#include <string>

#include "algorithms/options.hpp"
#include "sim/app/studies/validate/measured.hpp"

namespace thinwire::studies {

/// The scheme that runs the algorithm of a measured row, or why there is none.
struct SchemeOfRow {
  std::string scheme;  ///< empty: none
  std::map<std::string, algorithms::OptionValue> options = {};
  std::string why_none = {};
};

/// By the row's collective, library and algorithm, which must be in the table of
/// known_algorithms.cpp or be the name of a scheme. None where the table names a scheme that this
/// program does not have.
[[nodiscard]] SchemeOfRow scheme_of(const MeasuredRow& row);
/// Adds the options of a machine's settings that the scheme has and that the row does not give.
void add_options_of(const Json& settings, SchemeOfRow& found);

}  // namespace thinwire::studies
