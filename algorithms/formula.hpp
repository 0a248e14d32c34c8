// Evaluates formulas as papers print them, so that the printed formula is also the one that is
// compared with measurements.
#pragma once

#include <map>
#include <string>

namespace thinwire::algorithms {

/// Values of the symbols of a formula (P, n, k ...).
using Symbols = std::map<std::string, double>;

/// The value of a formula such as "2k (P-1)/P" or "log P + ceil(n/bucket_words)".
///
/// The syntax has numbers, symbols, + - * / and parentheses. Juxtaposed factors are multiplied,
/// from left to right together with /, so 2n (P-1)/P is (2n (P-1))/P. A function takes the factor
/// after it: log (to base 2), sqrt, ceil, floor; min and max take two values in parentheses.
/// Throws InputError naming the formula, the position and what was expected.
[[nodiscard]] double evaluate(const std::string& formula, const Symbols& symbols);

}  // namespace thinwire::algorithms
