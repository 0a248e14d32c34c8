// What is asked for becomes a plan: by origin, by defaults, and by what the runs read.
#include "sim/app/plan/plan.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/rules.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/core/base/complaints.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::plan {

namespace {

Plan plan_of(const Json& json) { return resolve({json, Origin::config, "test"}); }

std::string complaints_about(const Json& json) {
  return test::error_of<InputError>([&] { static_cast<void>(plan_of(json)); });
}

}  // namespace

TEST_CASE("a plan refers to the entries of the registries") {
  const Plan plan = plan_of({{"scheme", "topka+dgc"}, {"network", "links"}});
  CHECK(&*plan.point().scheme == &algorithms::find_scheme("topka+dgc"));
  CHECK(plan.point().network->id == NetworkId::links);
  CHECK(plan.point().platform == kDefaultPlatform);
}

TEST_CASE("k and density are settled once, and replace one another by their origin") {
  Request request({{"scheme", "topka"}, {"components", 1000}, {"density", 0.1}}, Origin::config,
                  "test");
  CHECK(resolve(request).sparsity().k == 100);
  CHECK(resolve(request).sparsity().density == 0.1);
  request.give("k", 50, Origin::flag);
  CHECK(resolve(request).sparsity().k == 50);
  CHECK(resolve(request).sparsity().density == 0.05);
  CHECK(resolve(request).point().k == 50);
  request.give("density", 0.2, Origin::flag);  // both from flags
  CHECK(test::contains(test::error_of<InputError>([&] { static_cast<void>(resolve(request)); }),
                       "test: /k: give 'k' (-k) or 'density' (--density), not both"));
}

TEST_CASE("a plan says what it does not read, and leaves out what the network has not") {
  const Plan plan = plan_of({{"scheme", "dense_ring"},
                             {"density", 0.2},
                             {"time_resolution_s", 1e-6},
                             {"options", {{"tau", 8}}},
                             {"ranks", 4}});
  std::vector<std::string> unread;
  Usage usage;
  usage.add(plan);
  for (const Given& given : usage.unread()) unread.push_back(given.path);
  CHECK(unread == std::vector<std::string>{"density", "options.tau", "time_resolution_s"});
  CHECK(plan.point().time_resolution == Seconds(0));
  CHECK(plan.point().options.empty());
  usage.add(plan_of({{"scheme", "oktopk"}, {"density", 0.2}, {"options", {{"tau", 8}}}}));
  CHECK(usage.unread().size() == 1);
  usage.add(plan_of({{"scheme", "dense_ring"}, {"network", "smpi"}, {"time_resolution_s", 1e-6}}));
  CHECK(usage.unread().empty());
}

TEST_CASE("all contradictions of a request are told at once") {
  const std::string told = complaints_about({{"scheme", "reduce_scatter_ring"},
                                             {"placement", "round_robin"},
                                             {"error_feedback", true},
                                             {"machine", {{"destinations_beyond", 4}}}});
  CHECK(test::contains(told, "/scheme: 'reduce_scatter_ring' is of the collective"));
  CHECK(test::contains(told, "test: /placement: "));
  CHECK(test::contains(told, "\ntest: /machine/destinations_beyond: "));
}

TEST_CASE("the rules and the circumstances speak of settings that there are") {
  for (const Rule& rule : rules()) {
    const std::string path = rule.setting;
    CAPTURE(path);
    bool known = false;
    for (const Setting& setting : point_settings()) {
      known = known || setting.path == path || setting.group() == path;
    }
    CHECK(known);
  }
  for (const Setting& setting : point_settings()) {
    for (const Circumstance* const circumstance : setting.when) {
      const bool of_run = circumstance->on != nullptr;
      CHECK((of_run || (!circumstance->chosen && circumstance->of_scheme != nullptr)));
      CHECK_FALSE(test::contains(text_of(*circumstance), "{}"));
    }
  }
  CHECK(schemes_with(kOfTensors) == "deft, dragonn, powersgd");
}

TEST_CASE("the papers' machine has nothing but what their formulas have") {
  for (const Setting& setting : point_settings()) {
    if (setting.group() != "machine") continue;
    CAPTURE(setting.path);
    Point point;
    point.network = setting.networks.has(NetworkId::alphabeta) ? "alphabeta" : "links";
    CHECK(has_papers_machine(point));
    setting.set(point, setting.kind == SettingKind::boolean ? Json(true) : Json(1));
    CHECK(has_papers_machine(point) == setting.in_formulas);
  }
}

}  // namespace thinwire::plan
