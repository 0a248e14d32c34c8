#include "sim/app/run/extrapolation.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/run/estimate.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/links.hpp"

namespace thinwire::run {

namespace {

Json of_chunks(const std::string& scheme, int ranks, int chunks) {
  Json json = {{"scheme", scheme},
               {"ranks", ranks},
               {"approximate", chunks},
               {"input", {{"profile", "bert"}, {"statistical", true}}}};
  if (chunks == 0) json.erase("approximate");
  return json;
}

results::Outcome sent(const Json& json) {
  const results::Row row = simulate_point("test", plan::point_from(json, "test"));
  if (!row.outcome) throw SimulationError(row.reason);
  return *row.outcome;
}

void check_near(const results::Outcome& few, const results::Outcome& all, double tolerance) {
  CHECK(few.time().value() == test::approx(all.time().value()).epsilon(tolerance));
  CHECK(few.iteration == all.iteration);
  CHECK(few.iteration_times.size() == all.iteration_times.size());
  // Each chunk is the same messages, of lengths that differ by a word at most.
  CHECK(few.messages_sent.max == all.messages_sent.max);
  CHECK(few.messages_received.mean == all.messages_received.mean);
  CHECK(static_cast<double>(few.words_sent.max) ==
        test::approx(static_cast<double>(all.words_sent.max)).epsilon(1e-6));
  CHECK(few.words_received.mean == test::approx(all.words_received.mean).epsilon(1e-6));
  CHECK(few.result_components == all.result_components);
  CHECK(few.ranks_agree);
  REQUIRE(few.phases.size() == all.phases.size());
  for (std::size_t i = 0; i < few.phases.size(); ++i) {
    CHECK(few.phases[i].name == all.phases[i].name);
    CHECK(few.phases[i].time.value() ==
          test::approx(all.phases[i].time.value()).epsilon(tolerance));
    CHECK(few.phases[i].messages_received == all.phases[i].messages_received);
  }
}

}  // namespace

TEST_CASE("extrapolation: the time of all chunks follows from the time of a few" *
          doctest::test_suite("large")) {
  for (const int ranks : {2, 3, 7, 12, 23, 64}) {
    CAPTURE(ranks);
    check_near(sent(of_chunks("dense_double_tree", ranks, 48)),
               sent(of_chunks("dense_double_tree", ranks, 0)), 1e-5);
    check_near(sent(of_chunks("nccl_tree", ranks, 48)), sent(of_chunks("nccl_tree", ranks, 0)),
               1e-3);
  }
}

TEST_CASE("extrapolation: protocols, channels and chunks are the whole gradient's" *
          doctest::test_suite("large")) {
  for (const Json& options :
       {Json{{"protocol", 0}}, Json{{"protocol", 1}, {"channels", 3}},
        Json{{"chunk_words", 100'000}}, Json{{"node", 4}, {"channel_bandwidth", 20.0}}}) {
    CAPTURE(options.dump());
    Json all = of_chunks("nccl_tree", 24, 0);
    Json few = of_chunks("nccl_tree", 24, 64);
    all["options"] = few["options"] = options;
    check_near(sent(few), sent(all), 0.015);
  }
  // NCCL's tuner chooses protocol and channels by the length of the whole gradient.
  Json all = of_chunks("dense_auto", 256, 0);
  Json few = of_chunks("dense_auto", 256, 32);
  all["input"]["profile"] = few["input"]["profile"] = "vgg16";
  check_near(sent(few), sent(all), 0.02);
}

TEST_CASE("extrapolation: each bucket fills the trees anew" * doctest::test_suite("large")) {
  const auto in_buckets = [](int ranks, int chunks, std::int64_t bucket_words) {
    Json json = of_chunks("dense_auto_ovlp", ranks, chunks);
    json["options"] = {{"node", 1}, {"bucket_words", bucket_words}};
    json["components"] = 20'000'000;
    json["iterations"] = 1;
    return sent(json);
  };
  // Four buckets alike; five, of which the last is shorter, as are its chunks.
  for (const std::int64_t words : {5'000'000, 4'500'000}) {
    CAPTURE(words);
    const results::Outcome all = in_buckets(256, 0, words);
    const results::Outcome few = in_buckets(256, 64, words);
    REQUIRE(few.extrapolated_chunks);
    // In shorter chunks the last bucket takes longer.
    const double tolerance = words == 5'000'000 ? 0.001 : 0.03;
    CHECK(few.time().value() == test::approx(all.time().value()).epsilon(tolerance));
    CHECK(few.messages_sent.max == all.messages_sent.max);
    CHECK(static_cast<double>(few.words_sent.max) ==
          test::approx(static_cast<double>(all.words_sent.max)).epsilon(1e-4));
    CHECK(few.phases.empty());
  }
  // Buckets of 13 chunks do not fill trees of 256 ranks.
  CHECK_FALSE(in_buckets(256, 48, 200'000).extrapolated_chunks);
}

TEST_CASE("extrapolation: links that messages share, and the time without sharing them" *
          doctest::test_suite("large")) {
  const test::PlatformFile file =
      test::made_platform("fat_tree", {{"children", "16,4"}, {"oversubscription", "8"}});
  for (const char* scheme : {"dense_double_tree", "nccl_tree"}) {
    CAPTURE(scheme);
    const auto on_links = [&](int chunks) {
      Json json = of_chunks(scheme, 64, chunks);
      json["network"] = "links";
      json["platform"] = file.path();
      json["placement"] = "random:1";
      return sent(json);
    };
    const results::Outcome all = on_links(0);
    const results::Outcome few = on_links(64);
    check_near(few, all, 0.01);
    CHECK(*few.congestion_factor() == test::approx(*all.congestion_factor()).epsilon(0.01));
    CHECK(*all.congestion_factor() > 1.1);
  }
}

TEST_CASE("extrapolation: where there is nothing to extrapolate, all is sent" *
          doctest::test_suite("large")) {
  const auto all_is_sent = [](const Json& json) {
    CAPTURE(json.dump());
    Json all = json;
    all.erase("approximate");
    const results::Outcome outcome = sent(json);
    CHECK(outcome.time() == sent(all).time());
    CHECK_FALSE(outcome.extrapolated_chunks);
  };
  for (const char* scheme : {"dense_double_tree", "nccl_tree", "dense_auto"}) {
    all_is_sent(of_chunks(scheme, 12, 100'000));
    all_is_sent(of_chunks(scheme, 1, 32));
  }
  all_is_sent(of_chunks("dense_auto", 8, 32));  // NCCL takes rings
  Json tiny = of_chunks("dense_double_tree", 5, 32);
  tiny["components"] = 1;
  all_is_sent(tiny);
  CHECK(sent(of_chunks("nccl_tree", 12, 32)).extrapolated_chunks.value() > 100);
}

TEST_CASE("extrapolation: times that are not on a line are told" * doctest::test_suite("large")) {
  // 32 chunks do not fill these trees; two times alone would be up to 5.5% off.
  Json on_gpus = of_chunks("dense_auto", 128, 32);
  on_gpus["network"] = "links";
  on_gpus["platform"] = "dgx_h100";
  on_gpus["components"] = 30'000'000;
  CHECK_THROWS_WITH(static_cast<void>(sent(on_gpus)), doctest::Contains("take more chunks"));
  on_gpus["approximate"] = 64;
  CHECK(sent(on_gpus).extrapolated_chunks);
  CHECK_THROWS_WITH(static_cast<void>(sent(of_chunks("dense_double_tree", 2048, 32))),
                    doctest::Contains("take more chunks"));
}

TEST_CASE("extrapolation: no time grows to no time") {
  Json json = of_chunks("dense_double_tree", 7, 48);
  json["machine"] = {{"alpha_s", 0.0}, {"beta_s_per_word", 0.0}};
  CHECK(sent(json).time() == Seconds(0));
}

TEST_CASE("extrapolation: a run is estimated by what it simulates") {
  const double all = estimated_wall_s(plan::point_from(of_chunks("nccl_tree", 512, 0), "test"));
  const double few = estimated_wall_s(plan::point_from(of_chunks("nccl_tree", 512, 32), "test"));
  CHECK(few < all / 3);
}

TEST_CASE("extrapolation: what has no chunks, or is not the same for all of them, is refused") {
  const auto refuses = [](Json json, const char* words, const Json& more = Json::object()) {
    json.update(more, true);
    CAPTURE(json.dump());
    CHECK_THROWS_WITH(static_cast<void>(sent(json)), doctest::Contains(words));
  };
  refuses(of_chunks("nccl_tree", 8, 31), "32 chunks or more");
  const Json trees = of_chunks("dense_double_tree", 8, 32);
  refuses(trees, "no clock", {{"network", "counting"}});
  refuses(trees, "do not repeat", {{"machine", {{"noise_s", 1e-6}}}});
  refuses(trees, "cache", {{"machine", {{"cache_bytes", 1e6}, {"gamma_s_per_word", 1e-10}}}});
  refuses(trees, "sums that take time", {{"machine", {{"gamma_s_per_word", 1e-10}}}});
  refuses(trees, "leave out 'record.links'", {{"record", {{"ranks", true}}}});
  const Json of_trace = {{"scheme", "dense_double_tree"},
                         {"ranks", 8},
                         {"approximate", 32},
                         {"input", {{"trace", "cnn_oktopk"}}}};
  refuses(of_trace, "has a length of its own");
  refuses(of_trace, "leave out 'error_feedback'",
          {{"input", {{"trace", ""}}}, {"error_feedback", true}});
  Simulation simulation(plan::point_from(trees, "test"));
  CHECK_THROWS_WITH(static_cast<void>(simulation.run(TimelineSettings())),
                    doctest::Contains("a timeline needs all ranks and chunks"));
  Schedule schedule;
  CHECK_THROWS_WITH(static_cast<void>(simulation.run(schedule)),
                    doctest::Contains("a schedule needs all ranks and chunks"));
}

}  // namespace thinwire::run
