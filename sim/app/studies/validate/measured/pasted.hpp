// Benchmark texts as people paste them: with a tag of the launcher before each line, or without the
// '#' that a formatter took for a heading.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::studies {

/// The text as the benchmark printed it, as far as that can be told from its heading: without the tag
/// of 'srun -l' ("0: "), 'mpirun --tag-output' ("[1,0]<stdout>:") or '-prepend-rank' ("[0] ") before
/// the heading, also where the tags of lines differ in their numbers, and with the '#' of the lines
/// that had one. The lines stay, so their numbers do. A text without such a heading comes back as it
/// is.
[[nodiscard]] std::string as_printed(std::string_view text);

}  // namespace thinwire::studies
