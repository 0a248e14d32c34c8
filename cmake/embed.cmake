# Writes a header that holds a text file as a raw string: what a binary needs it carries.
file(READ ${INPUT} CONTENT)
file(WRITE ${OUTPUT}
"#pragma once

#include <string_view>

namespace thinwire::experiment {

inline constexpr std::string_view ${NAME} = R\"__(${CONTENT})__\";

}  // namespace thinwire::experiment
")
