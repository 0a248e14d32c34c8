#include "sim/app/report/tables/costs.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/registry.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/app/report/tables/formats.hpp"

namespace thinwire::report {

namespace {

/// Escapes bars, which formulas lack but option texts might contain.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped.empty() ? "-" : escaped;
}

std::string interval_of(const std::string& low, const std::string& high) {
  return high.empty() || high == low ? low : fmt::format("[{}, {}]", low, high);
}

std::string code(const std::string& formula) { return "`" + cell(formula) + "`"; }

/// Formats whole numbers: words and messages.
std::string whole(double value) { return fmt::format("{:.0f}", value); }

}  // namespace

std::string bandwidth_text(const algorithms::PaperCost& paper) {
  return interval_of(paper.words, paper.words_high);
}

std::vector<Json> cost_records(const CostPoint& point) {
  std::vector<Json> records;
  const plan::Machine machine;  // DRAGONN's decisions depend on it
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    const algorithms::Options options(scheme.options, {});
    const algorithms::Cost cost = scheme.cost({.ranks = point.ranks,
                                               .n = point.n,
                                               .k = point.k,
                                               .iteration = 2,
                                               .options = &options,
                                               .alpha = machine.alpha,
                                               .beta_per_word = machine.beta_per_word});
    const algorithms::Interval run = cost.run();
    records.push_back({{"scheme", scheme.name},
                       {"collective", name_of(scheme.collective_kind)},
                       {"latency", interval_of(scheme.paper.latency, scheme.paper.latency_high)},
                       {"bandwidth", bandwidth_text(scheme.paper)},
                       {"reduction", interval_of(scheme.paper.reduced, scheme.paper.reduced_high)},
                       {"exact_when", scheme.exact_when},
                       {"added", scheme.added},
                       {"source", scheme.source},
                       {"ranks", point.ranks},
                       {"components", point.n},
                       {"k", point.k},
                       {"paper_messages", cost.paper.low.messages},
                       {"paper_words_low", cost.paper.low.words},
                       {"paper_words_high", cost.paper.high.words},
                       {"run_messages_low", run.low.messages},
                       {"run_messages_high", run.high.messages},
                       {"run_words_low", run.low.words},
                       {"run_words_high", run.high.words},
                       {"run_reduced_low", run.low.reduced},
                       {"run_reduced_high", run.high.reduced}});
  }
  return records;
}

std::string cost_models_markdown() {
  const CostPoint point;
  std::string text = fmt::format(
      "<!-- Made by: thinwire list schemes --costs --markdown > docs/cost-models.md -->\n"
      "# Cost models\n\n"
      "This page lists the cost models of all schemes and sparsifiers, for readers who compare\n"
      "simulations with the papers.\n\n"
      "- P is the number of ranks, n the number of components, and k the number of components\n"
      "  that each rank selects (all ranks together for exdyna, micro and deft). Of an allgather,\n"
      "  n is the gathered vector, of an all-to-all what a rank sends in all.\n"
      "- α is the time in seconds of a message, β of a word of 4 bytes, and γ of adding a "
      "received\n"
      "  word to one's own.\n"
      "- log is to base 2. Other names are options of the scheme. `[a, b]` is an interval.\n\n"
      "`thinwire compare` evaluates these formulas with whole numbers of messages (for example\n"
      "ceil(log P) instead of log P). Its verdict also takes the terms into account that the\n"
      "formulas leave out. The γ column is ours; the papers have none.\n\n"
      "## Schemes\n\n"
      "The time of a scheme is the latency times α, plus the bandwidth times β, plus the "
      "reduction\n"
      "times γ. Under the condition `exact when`, the simulated time equals this sum to 1e-9. "
      "These\n"
      "terms are left out by the formulas:\n\n"
      "- Remainders: n is no multiple of the number of pieces, so some pieces are a word longer.\n"
      "- Uneven pieces or regions: the ranks' selected entries do not divide evenly among them.\n"
      "- Folding in: where P is no power of two, some ranks first send their entries to a partner\n"
      "  and receive the result from it at the end.\n"
      "- Sizes: ranks tell each other the lengths of their messages before they send them.\n"
      "- d: the number of components in the tensors that are sent without compression.\n\n"
      "| scheme | latency, α | bandwidth, β | reduction, γ | exact when | left out by the formula "
      "| source |\n"
      "|---|---|---|---|---|---|---|\n");
  const std::vector<Json> records = cost_records(point);
  const auto field = [](const Json& record, const char* key) {
    return record.at(key).get<std::string>();
  };
  for (const Json& record : records) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", field(record, "scheme"),
                        code(field(record, "latency")), code(field(record, "bandwidth")),
                        code(field(record, "reduction")), cell(field(record, "exact_when")),
                        cell(field(record, "added")), cell(field(record, "source")));
  }
  text += fmt::format(
      "\n## Values for BERT\n\n"
      "BERT on {} ranks at 1%: n = {}, k = {}. The columns 'paper' evaluate the formulas\n"
      "above. The columns 'run' add the terms that are left out, for an iteration without exact\n"
      "thresholds; they bound what a rank sends in a simulated run.\n\n"
      "| scheme | messages, paper | words, paper | messages, run | words, run |\n"
      "|---|---|---|---|---|\n",
      point.ranks, point.n, point.k);
  const auto range = [&](const Json& record, const char* low, const char* high) {
    return interval_of(whole(record.at(low).get<double>()), whole(record.at(high).get<double>()));
  };
  for (const Json& record : records) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", field(record, "scheme"),
                        whole(record.at("paper_messages").get<double>()),
                        range(record, "paper_words_low", "paper_words_high"),
                        range(record, "run_messages_low", "run_messages_high"),
                        range(record, "run_words_low", "run_words_high"));
  }
  text +=
      "\n## Sparsifiers\n\n"
      "`SCHEME+SPARSIFIER` is a sparse scheme with another sparsifier, such as `oktopk+dgc`.\n\n"
      "| sparsifier | selects | requires of the collective | source |\n"
      "|---|---|---|---|\n";
  for (const algorithms::SparsifierInfo& sparsifier : algorithms::all_sparsifiers()) {
    const char* needs = "-";
    if (sparsifier.needs == algorithms::Needs::slots)
      needs = "slots that travel (schemes that gather)";
    if (sparsifier.needs == algorithms::Needs::values_of_all) {
      needs = "all ranks' values at its indexes (schemes that share indexes)";
    }
    text += fmt::format("| {} | {} | {} | {} |\n", sparsifier.name, cell(sparsifier.summary), needs,
                        cell(sparsifier.source));
  }
  return text;
}

}  // namespace thinwire::report
