#include <algorithm>
#include <optional>

#include "sim/app/studies/validate/measured/formats.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

namespace {

/// The table of OSU:
///   # OSU MPI Allreduce Latency Test v7.3
///   # Size       Avg Latency(us)
///   4                       5.12
class OsuReader {
 public:
  OsuReader(std::string_view text, const MeasuredFile& file)
      : file_(file), lines_(lines_of_text(text)), times_(file) {}

  std::vector<MeasuredRow> read() {
    said_.gpu = "no";
    std::optional<double> unit;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const int line = static_cast<int>(i) + 1;
      const std::vector<Token> tokens = tokens_of(lines_[i]);
      if (tokens.empty()) continue;
      if (is_of_osu(tokens)) {
        take_title(line, lines_[i]);
      } else if (tokens.size() > 2 && tokens[0].text == "#" && tokens[1].text == "Size") {
        const auto latency = std::ranges::find_if(
            tokens, [](const Token& token) { return token.text.starts_with("Latency"); });
        if (latency == tokens.end()) {
          refuse_at(file_.path, line, tokens[2].column, "there is no column 'Latency'");
        }
        unit = times_.unit_at(line, *latency);
      } else if (unit && !tokens[0].text.starts_with('#')) {
        times_.add(line, tokens, 0, 1, *unit);
      }
    }
    std::vector<MeasuredRow> rows = times_.rows(said_);
    for (MeasuredRow& row : rows) {
      // The sizes of these are those of one rank's block.
      if (row.collective != "allgather" && row.collective != "alltoall") continue;
      row.elements *= std::int64_t{row.nodes} * row.tasks_per_node;
    }
    return rows;
  }

 private:
  void take_title(int number, std::string_view line) {
    const std::string all = lower(line);
    const std::string title = all.substr(0, all.find(" test"));
    const std::string before = said_.collective;
    const auto has = [&](std::string_view part) { return title.find(part) != std::string::npos; };
    if (has("allreduce")) said_.collective = "allreduce";
    if (has("allgather")) said_.collective = "allgather";
    if (has("reduce_scatter")) said_.collective = "reduce_scatter";
    if (has("alltoall") || has("all-to-all")) said_.collective = "alltoall";
    if (has("-cuda") || has("-rocm")) said_.gpu = "yes";
    if (!before.empty() && said_.collective != before) {
      refuse_at(file_.path, number, 1,
                "another collective begins here; give the text of each in a file of its own");
    }
  }

  const MeasuredFile& file_;
  std::vector<std::string_view> lines_;
  TimedLines times_;
  Said said_;
};

}  // namespace

std::vector<MeasuredRow> rows_of_osu(std::string_view text, const MeasuredFile& file) {
  return OsuReader(text, file).read();
}

bool is_of_osu(const std::vector<Token>& line) {
  return line.size() > 3 && line[0].text == "#" && line[1].text == "OSU";
}

}  // namespace thinwire::studies
