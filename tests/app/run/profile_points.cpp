// Points whose gradients a profile describes.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/app/plan/point.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace thinwire;
using namespace thinwire::plan;
using namespace thinwire::results;
using namespace thinwire::run;
using test::contains;
using test::error_of;

Point point_of(const std::string& json) { return point_from(Json::parse(json), "test"); }

std::string refusal(const std::string& json) {
  return error_of<InputError>([&] { static_cast<void>(point_of(json)); });
}

}  // namespace

TEST_CASE("a point with a profile has its size and its density, unless it says otherwise") {
  const test::TemporaryFolder folder;
  write_profile(test::small_profile(), folder.path("small.json"));  // 2% of 40,000
  const std::string profile = R"("input":{"profile":")" + folder.path("small.json") + "\"}";
  const Point point = point_of(R"({"ranks":4,)" + profile + "}");
  CHECK(point.space.components == 40'000);
  CHECK(point.space.granule == 1);
  CHECK(point.k == 800);
  CHECK(point_of(R"({"density":0.1,)" + profile + "}").k == 4000);
  CHECK(point_of(R"({"components":1000,)" + profile + "}").k == 20);
  CHECK(point_of(R"({"k":77,)" + profile + "}").k == 77);
  CHECK(point_of(R"({"k":77,)" + profile + "}").space.components == 40'000);
  const Point both = point_of(R"({"components":5000,"density":0.5,)" + profile + "}");
  CHECK(both.space.components == 5000);
  CHECK(both.k == 2500);
  CHECK(point_of("{}").k == 10'000);
}

TEST_CASE("a point with a profile has the options of its training, unless it says otherwise") {
  const auto period = [](const Json& point) {
    return std::get<std::int64_t>(point_from(point, "test").options.at("tau_prime"));
  };
  const Json bert = {{"profile", "bert"}, {"statistical", true}};
  CHECK(period({{"scheme", "oktopk"}, {"input", bert}}) == 128);
  CHECK(period({{"scheme", "hierarchical_oktopk"}, {"input", bert}}) == 128);
  CHECK(
      period({{"scheme", "oktopk"}, {"input", bert}, {"components", 1000000}, {"density", 0.01}}) ==
      128);
  CHECK(period({{"scheme", "oktopk"}, {"input", bert}, {"options", {{"tau_prime", 7}}}}) == 7);
  CHECK(period({{"scheme", "oktopk"}, {"input", {{"profile", "vgg16"}}}}) == 32);
  CHECK(point_from({{"scheme", "topka"}, {"input", bert}}, "test").options.count("tau_prime") == 0);
}

TEST_CASE("a point with a shipped profile comes back from its JSON") {
  const Point point = point_of(
      R"({"ranks":8,"input":{"profile":"lstm","family":"beta","statistical":true,"start_up":true}})");
  CHECK(point.input.profile == "lstm");
  CHECK(point.input.family == traces::PopularityFamily::beta);
  CHECK(point.input.statistical);
  CHECK(point.input.start_up);
  CHECK(point.space.granule == 1);
  const Json json = to_json(point);
  CHECK(to_json(plan::point_from(json, "again")) == json);
  CHECK_FALSE(json.at("input").contains("overlap"));
  const Point plain = point_of(R"({"input":{"profile":"lstm"}})");
  CHECK(plain.input.family == traces::PopularityFamily::copula);
  CHECK_FALSE(plain.input.statistical);
  CHECK_FALSE(plain.input.start_up);
  CHECK(plain.input.reach == 8);
}

TEST_CASE("a point's key changes with what is said of its profile, and with the profile") {
  const test::TemporaryFolder folder;
  traces::Profile profile = test::small_profile();
  write_profile(profile, folder.path("a.json"));
  const Json base = {{"ranks", 4}, {"input", {{"profile", folder.path("a.json")}}}};
  const std::string key = plan::key_of(plan::point_from(base, "test"));
  for (const char* change : {R"({"input":{"family":"beta"}})", R"({"input":{"statistical":true}})",
                             R"({"input":{"start_up":true}})", R"({"input":{"reach":4}})"}) {
    CAPTURE(std::string(change));
    Json other = base;
    other.merge_patch(Json::parse(change));
    CHECK(plan::key_of(plan::point_from(other, "test")) != key);
  }
  CHECK(plan::key_of(plan::point_from(base, "test")) == key);
  profile.popularity.rho = 0.3;
  write_profile(profile, folder.path("a.json"));
  CHECK(plan::key_of(plan::point_from(base, "test")) != key);
}

TEST_CASE("what does not go with a profile is refused with its JSON pointer") {
  for (const auto& [json, what] : {
           std::pair(R"({"input":{"profile":"vgg17"}})", "test: /input/profile: "),
           std::pair(R"({"input":{"profile":"vgg17"}})", "did you mean 'vgg16'?"),
           std::pair(R"({"input":{"profile":"/nowhere.json"}})", "test: /input/profile: "),
           std::pair(R"({"input":{"profile":"vgg16","overlap":0.1}})", "test: /input/overlap: "),
           std::pair(R"({"input":{"profile":"vgg16","skew":0}})", "test: /input/skew: "),
           std::pair(R"({"input":{"profile":"vgg16","drift":0}})", "test: /input/drift: "),
           std::pair(R"({"input":{"profile":"vgg16","tail":0.2}})", "test: /input/tail: "),
           std::pair(R"({"input":{"profile":"vgg16","scale_drift":0}})",
                     "test: /input/scale_drift: "),
           std::pair(R"({"granule":8,"input":{"profile":"vgg16","statistical":true}})",
                     "test: /granule: "),
           std::pair(R"({"error_feedback":true,"input":{"profile":"vgg16"}})",
                     "test: /error_feedback: "),
           std::pair(R"({"input":{"statistical":true}})", "test: /input/statistical: "),
           std::pair(R"({"input":{"family":"beta"}})", "test: /input/family: "),
           std::pair(R"({"input":{"start_up":false}})", "test: /input/start_up: "),
           std::pair(R"({"input":{"reach":8}})", "test: /input/reach: "),
           std::pair(R"({"input":{"profile":"vgg16","family":"gauss"}})", "/input/family: "),
           std::pair(R"({"input":{"profile":"vgg16","reach":-1}})", "/input/reach: "),
           std::pair(R"({"input":{"profil":"vgg16"}})", "did you mean 'profile'?"),
           std::pair(R"({"k":1,"density":0.1,"input":{"profile":"vgg16"}})", "test: /k: "),
       }) {
    CAPTURE(std::string(json));
    const std::string text = refusal(json);
    CAPTURE(text);
    CHECK(contains(text, what));
  }
  CHECK(point_of(R"({"granule":1,"input":{"profile":"vgg16","statistical":true}})").space.granule ==
        1);
}

TEST_CASE("an unknown profile is refused even where the point says all that it would bring") {
  CHECK(contains(refusal(R"({"components":1000,"k":10,"input":{"profile":"vgg17"}})"),
                 "/input/profile: "));
}
