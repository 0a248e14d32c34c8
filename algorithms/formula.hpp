// Formulas as papers print them, that can be evaluated: what a table shows is what a comparison
// takes.
#pragma once

#include <map>
#include <string>

namespace thinwire::algorithms {

/// Values of the symbols of a formula (P, n, k ...).
using Symbols = std::map<std::string, double>;

/// The value of a formula such as "2k (P-1)/P" or "log P + ceil(n/bucket_words)".
///
/// Numbers, symbols, + - * / and parentheses; what stands side by side is multiplied, from left to
/// right with / as in print, so 2n (P-1)/P is (2n (P-1))/P. A function takes the factor after it:
/// log (to base 2), ceil, floor; min and max take two values in parentheses.
/// Throws InputError naming the formula, the position and what was expected.
[[nodiscard]] double evaluate(const std::string& formula, const Symbols& symbols);

}  // namespace thinwire::algorithms
