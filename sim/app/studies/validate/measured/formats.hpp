// The formats of measured rows, each in a file of its own; read_measured finds out which it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/app/studies/validate/measured.hpp"
#include "sim/app/studies/validate/measured/timed_lines.hpp"

namespace thinwire::studies {

[[nodiscard]] std::vector<MeasuredRow> rows_of_csv(const std::string& text,
                                                   const MeasuredFile& file);
/// Rows of 'thinwire measure', which say everything but what the machine is called.
[[nodiscard]] std::vector<MeasuredRow> rows_of_results(const std::string& text,
                                                       const MeasuredFile& file);

[[nodiscard]] std::vector<MeasuredRow> rows_of_nccl_tests(std::string_view text,
                                                          const MeasuredFile& file);
/// Whether a line is the heading of a table of nccl-tests.
[[nodiscard]] bool is_of_nccl_tests(const std::vector<Token>& line);

[[nodiscard]] std::vector<MeasuredRow> rows_of_osu(std::string_view text, const MeasuredFile& file);
/// Whether a line is the title of an OSU benchmark.
[[nodiscard]] bool is_of_osu(const std::vector<Token>& line);

[[nodiscard]] std::vector<MeasuredRow> rows_of_imb(std::string_view text, const MeasuredFile& file);
/// Whether a line is the heading of a table of IMB.
[[nodiscard]] bool is_of_imb(const std::vector<Token>& line);

}  // namespace thinwire::studies
