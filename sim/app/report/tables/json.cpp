#include "sim/app/report/tables/formats.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::report {

std::string to_json_array(const std::vector<Json>& records) {
  return Json(records).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string to_json_lines(const std::vector<Json>& records) {
  std::string lines;
  for (const Json& record : records) lines += dumped(record) + '\n';
  return lines;
}

std::string render(Format format, const std::vector<Json>& records,
                   const std::vector<Column>& columns) {
  switch (format) {
    case Format::csv:
      return to_csv(records);
    case Format::json:
      return to_json_array(records);
    case Format::jsonl:
      return to_json_lines(records);
    case Format::nccl:
    case Format::osu:
      throw InputError("--format: nccl and osu are for the results of run and sweep");
    case Format::table:
      break;
  }
  return to_table(records, columns);
}

}  // namespace thinwire::report
