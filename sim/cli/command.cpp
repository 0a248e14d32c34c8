#include "sim/cli/command.hpp"

#include <fmt/format.h>

#include <map>

#include "sim/report/records.hpp"

namespace thinwire {

namespace {

std::vector<Column> comparison_columns() {
  const auto field = [](const char* key, int digits = 6) {
    return [key, digits](const Json& r) { return number_text(r.at(key), digits); };
  };
  const auto text = [](const char* key) {
    return [key](const Json& r) { return r.at(key).get<std::string>(); };
  };
  const auto interval = [](const char* low, const char* high, int digits = 6) {
    return
        [low, high, digits](const Json& r) { return interval_text(r.at(low), r.at(high), digits); };
  };
  return {{"scheme", text("scheme"), true},
          {"network", text("network"), true},
          {"ranks", field("ranks")},
          {"k", field("k")},
          {"time_s",
           [](const Json& r) {
             if (!r.at("steps").is_null()) return r.at("steps").dump() + " steps";
             return number_text(r.at("time_s"));
           }},
          {"formula_s", interval("formula_low_s", "formula_high_s")},
          {"ratio", interval("ratio_low", "ratio_high", 10)},
          {"paper_s", interval("paper_low_s", "paper_high_s")},
          {"lower_order_s", interval("lower_order_low_s", "lower_order_high_s", 3)},
          {"words_max",
           [](const Json& r) {
             return number_text(std::max(r.at("words_sent_max"), r.at("words_received_max")));
           }},
          {"formula_words", interval("formula_words_low", "formula_words_high", 12)},
          {"messages_max",
           [](const Json& r) {
             return number_text(std::max(r.at("messages_sent_max"), r.at("messages_received_max")));
           }},
          {"formula_messages", interval("formula_messages_low", "formula_messages_high")},
          {"verdict",
           [](const Json& r) {
             return r.at("status") == "ok" ? r.at("verdict").get<std::string>()
                                           : r.at("status").get<std::string>();
           },
           true}};
}

}  // namespace

void add_format(CLI::App& command, Format& format) {
  const std::map<std::string, Format> formats{{"table", Format::table},
                                              {"csv", Format::csv},
                                              {"json", Format::json},
                                              {"jsonl", Format::jsonl}};
  command.add_option("--format", format, "table, csv, json or jsonl")
      ->transform(CLI::CheckedTransformer(formats).description("{table,csv,json,jsonl}"))
      ->option_text("FORMAT [table]");
}

std::string comparison_text(const std::vector<Row>& rows, double tolerance, Format format) {
  std::vector<Json> records;
  for (const Row& row : rows) records.push_back(record_of(row, compare(row, tolerance)));
  return render(format, records, comparison_columns());
}

bool report_troubles(const std::vector<Row>& rows) {
  std::fflush(stdout);  // the table first, where both go to one place
  bool failed = false;
  for (const Row& row : rows) {
    if (row.status == Status::ok) continue;
    failed = failed || row.status == Status::failed;
    fmt::print(stderr, "{}: {} on {} ranks: {}\n",
               row.status == Status::failed ? "failed" : "skipped", row.point.scheme,
               row.point.ranks, row.reason);
  }
  return failed;
}

}  // namespace thinwire
