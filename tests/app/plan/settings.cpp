// The table of settings, and all that is made from it.
#include "sim/app/plan/settings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/schema.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/app/cli/program.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::run {

namespace {

using testing::run_program;
using testing::text_of;

/// Where the setting of these tests alone keeps its value.
std::int64_t& spoons() {
  static std::int64_t count = 3;
  return count;
}

/// The settings, and one that this test declares.
plan::Settings with_one_more() {
  plan::Settings settings = plan::point_settings();
  settings.push_back({.path = "machine.spoons",
                      .kind = plan::SettingKind::integer,
                      .aspect = plan::Aspect::place,
                      .flag = "--spoons",
                      .unit = "bytes",
                      .least = 0,
                      .most = 5'000'000,
                      .networks = {plan::NetworkId::alphabeta},
                      .help = "spoons on the table",
                      .get = [](const plan::Point&) { return Json(spoons()); },
                      .set = [](plan::Point&, const Json& value) { spoons() = value; }});
  return settings;
}

std::string complaint(const Json& config, const plan::Settings& settings = plan::point_settings()) {
  try {
    plan::check_point(config, "test", settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// What the flags of the settings give, by dotted path.
Json given_by(std::vector<std::string> words,
              const plan::Settings& settings = plan::point_settings()) {
  Json given = Json::object();
  cli::CommandLine line("test", "test", "1");
  cli::Command command = line.root().add_subcommand("run", "test");
  cli::add_setting_flags(command, given, settings);
  words.insert(words.begin(), {"test", "run"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  REQUIRE(line.run(static_cast<int>(argv.size()), argv.data()) == 0);
  return given;
}

/// A value of the setting that is not its default, as a word of the command line.
std::string another_value(const plan::Setting& setting) {
  if (setting.path == "scheme") return "topka";
  if (setting.path == "network") return "links";
  if (setting.kind == plan::SettingKind::text) {
    return setting.choices.empty() ? "x" : setting.choices.back();
  }
  return setting.kind == plan::SettingKind::integer ? "7" : "0.0005";
}

}  // namespace

TEST_CASE("a setting that is declared once is read, written, checked, documented and a flag") {
  const plan::Settings settings = with_one_more();
  plan::Point point;
  assign(point, Json{{"machine", {{"spoons", 5}}}}, settings);
  CHECK(spoons() == 5);
  CHECK(plan::config_of(point, settings).at("machine").at("spoons") == 5);
  CHECK(complaint(Json{{"machine", {{"spoons", 5}}}}, settings).empty());
  CHECK(complaint(Json{{"machine", {{"spoons", -1}}}}, settings) ==
        "test: /machine/spoons: -1 is not valid; expected integer, at least 0, at most 5000000, "
        "as in 4096, 64K or 64KiB: spoons on the table");
  CHECK(test::contains(complaint(Json{{"machine", {{"spons", 1}}}}, settings),
                       "unknown key 'spons'; did you mean 'spoons'?"));
  CHECK(!complaint(Json{{"machine", {{"spoons", 5}}}}).empty());  // without the declaration

  const Json schema =
      plan::sweep_schema(settings).at("definitions").at("point").at("properties").at("machine");
  CHECK(schema.at("properties").at("spoons").at("maximum") == 5'000'000);
  CHECK(test::contains(plan::settings_page(settings), "| `machine.spoons` | `--spoons` |"));
  CHECK(given_by({"--spoons", "2M"}, settings) == Json{{"machine.spoons", 2'000'000}});

  Json given;
  cli::CommandLine line("test", "test", "1");
  cli::add_setting_flags(line.root(), given, settings);
  const std::vector<cli::OptionInfo> options = line.root().options();
  const auto found = std::ranges::find_if(options, [](const cli::OptionInfo& option) {
    return option.names == std::vector<std::string>{"--spoons"};
  });
  REQUIRE(found != options.end());
  CHECK(found->value == "bytes [5]");
  CHECK(found->help == "spoons on the table (alphabeta)");
  spoons() = 3;
}

TEST_CASE("paths and flags of the settings are all different") {
  std::set<std::string> paths;
  std::set<std::string> flags;
  for (const plan::Setting& setting : plan::point_settings()) {
    CHECK(paths.insert(setting.path).second);
    CHECK((setting.flag.empty() || flags.insert(setting.flag).second));
    CHECK(!setting.help.empty());
  }
  CHECK(flags.size() > 30);
}

TEST_CASE("every flag of a setting holds beside every other, in either order") {
  const plan::Settings& settings = plan::point_settings();
  const auto words_of = [](const plan::Setting& setting) {
    std::vector<std::string> words{setting.flag.substr(setting.flag.rfind(',') + 1)};
    if (setting.kind != plan::SettingKind::boolean) words.push_back(another_value(setting));
    return words;
  };
  int pairs = 0;
  for (const plan::Setting& a : settings) {
    for (const plan::Setting& b : settings) {
      if (a.flag.empty() || b.flag.empty() || &a == &b) continue;
      std::vector<std::string> words = words_of(a);
      for (const std::string& word : words_of(b)) words.push_back(word);
      const Json given = given_by(words);
      CAPTURE(a.flag);
      CAPTURE(b.flag);
      CHECK(given.size() == 2);
      CHECK(given.contains(a.path));
      CHECK(given.contains(b.path));
      ++pairs;
    }
  }
  CHECK(pairs > 900);
}

TEST_CASE("--set leaves flags as they are, before and after it" * doctest::test_suite("large")) {
  const auto row = [](const std::string& flags) {
    return Json::parse(run_program("run --scheme oktopk -P 4 --format jsonl " + flags).out);
  };
  for (const std::string flags :
       {"--profile vgg16 --statistical --set seed=1", "--set seed=1 --profile vgg16 --statistical",
        "--profile vgg16 --set seed=1 --statistical"}) {
    CAPTURE(flags);
    CHECK(row(flags).at("point").at("input").at("statistical") == true);
  }
  const Json staged = row("--model vgg16 --device p100 --staging --set seed=1");
  CHECK(staged.at("point").at("workload").at("staging") == true);
  CHECK(row("--model vgg16 --device p100 --staging").at("result").at("training") ==
        staged.at("result").at("training"));
}

TEST_CASE("numbers are taken as people write them") {
  const auto value = [](const std::string& path, const std::string& word) {
    return value_of(word, plan::setting_at(path));
  };
  CHECK(value("components", "1e6") == 1'000'000);
  CHECK(value("components", "25.5M") == 25'500'000);
  CHECK(value("density", "1%") == 0.01);
  CHECK(value("machine.alpha_s", "2us") == 2e-6);
  CHECK(value("machine.alpha_s", "2µs") == 2e-6);
  CHECK(value("machine.eager_bytes", "64K") == 64'000);
  CHECK(value("seed", "18446744073709551615") == 18446744073709551615U);
  CHECK(value("scheme", "1e6") == "1e6");
  for (const char* wrong : {"", "x", "1.5", "1e-3", "1us", "1 M", "1MM", "M"}) {
    CAPTURE(wrong);
    CHECK(value("components", wrong).is_string());
  }
  CHECK(value("density", "2us").is_string());
  CHECK(value("machine.alpha_s", "2K").is_string());
}

TEST_CASE("a point comes back from its JSON, whatever it is") {
  for (const char* text :
       {"{}", R"({"network":"links","links":{"routing":"ugal"}})",
        R"({"input":{"profile":"vgg16","statistical":true}})", R"({"workload":{"model":"vgg16"}})",
        R"({"tensors":[600,400],"components":1000,"options":{"tau":4}})"}) {
    CAPTURE(text);
    const plan::Point point = plan::point_from(Json::parse(text), "test");
    CHECK(to_json(plan::point_from(to_json(point), "again")) == to_json(point));
  }
}

TEST_CASE("tensors that leave too small a granule for their components are refused") {
  const auto refusal = [](std::int64_t first, std::int64_t last) {
    const Json point{{"scheme", "dragonn"},
                     {"components", first + last},
                     {"k", 100'000},
                     {"tensors", {first, last}}};
    return test::error_of<InputError>([&] { static_cast<void>(plan::point_from(point, "test")); });
  };
  // Odd tensors have no granule but 1, and with it more coordinates than 32 bits can name.
  CHECK(
      refusal(5'000'000'001, 5'000'000'001) ==
      "test: /granule: 10000000002 components need a granule of 4 at least, and none of that size "
      "divides all tensors");
  CHECK(refusal(5'000'000'000, 5'000'000'000) == "(nothing was thrown)");
}

TEST_CASE("the committed schema and docs/reference/settings.md are what the table says") {
  const std::string root = THINWIRE_SOURCE_DIR;
  const std::string schema = plan::sweep_schema().dump(2) + "\n";
  CHECK(text_of(root + "/sim/app/plan/schemas/sweep.schema.json") == schema);
  CHECK(text_of(root + "/docs/reference/settings.md") == plan::settings_page());
  CHECK(run_program("list settings --schema").out == schema);
}

}  // namespace thinwire::run
