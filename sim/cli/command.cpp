#include "sim/cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/report/records.hpp"

namespace thinwire {

namespace {

std::vector<Column> comparison_columns(Detail detail, bool one_network) {
  const auto field = [](const char* key) {
    return [key](const Json& r) { return number_text(r.at(key)); };
  };
  const auto text = [](const char* key) {
    return [key](const Json& r) { return r.at(key).get<std::string>(); };
  };
  const auto interval = [](const char* low, const char* high, int digits) {
    return
        [low, high, digits](const Json& r) { return interval_text(r.at(low), r.at(high), digits); };
  };
  const auto whole = [](const char* low, const char* high) {
    return [low, high](const Json& r) {
      return interval_text(std::llround(r.at(low).get<double>()),
                           std::llround(r.at(high).get<double>()));
    };
  };
  const auto larger = [](const char* sent, const char* received) {
    return [sent, received](const Json& r) {
      return number_text(std::max(r.at(sent), r.at(received)));
    };
  };
  const auto time = [](const Json& r) {
    return r.at("steps").is_null() ? number_text(r.at("time_s")) : r.at("steps").dump() + " steps";
  };
  const auto verdict = [](const Json& r) {
    return (r.at("status") == "ok" ? r.at("verdict") : r.at("status")).get<std::string>();
  };

  std::vector<Column> columns{{"scheme", text("scheme"), true}};
  if (!one_network) columns.push_back({"network", text("network"), true});
  columns.push_back({"ranks", field("ranks")});
  columns.push_back({"k", field("k")});
  columns.push_back({"time_s", time});
  columns.push_back({"formula_s", interval("formula_low_s", "formula_high_s", 6)});
  columns.push_back({"ratio", interval("ratio_low", "ratio_high", 5)});
  if (detail == Detail::full) {
    columns.push_back({"paper_s", interval("paper_low_s", "paper_high_s", 6)});
    columns.push_back({"lower_order_s", interval("lower_order_low_s", "lower_order_high_s", 3)});
  }
  columns.push_back({"words_max", larger("words_sent_max", "words_received_max")});
  columns.push_back({"formula_words", whole("formula_words_low", "formula_words_high")});
  columns.push_back({"messages", larger("messages_sent_max", "messages_received_max")});
  columns.push_back(
      {"formula_messages", interval("formula_messages_low", "formula_messages_high", 6)});
  columns.push_back({"verdict", verdict, true});
  return columns;
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

std::string comparison_text(const std::vector<Row>& rows, double tolerance, Format format,
                            Detail detail) {
  std::vector<Json> records;
  for (const Row& row : rows) records.push_back(record_of(row, compare(row, tolerance)));
  const bool one_network =
      std::ranges::all_of(rows, [](const Row& row) { return row.point.network == "alphabeta"; });
  return render(format, records, comparison_columns(detail, one_network));
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
