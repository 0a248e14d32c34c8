#include "sim/app/report/tables/scheme_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/report/tables/costs.hpp"

namespace thinwire::report {

namespace {

using algorithms::Collective;
using algorithms::SchemeInfo;
using algorithms::SparsifierInfo;

/// Escapes bars, which formulas lack but option texts might contain.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped.empty() ? "-" : escaped;
}

std::string code(const std::string& formula) { return "`" + cell(formula) + "`"; }

/// Formats whole numbers: words and messages.
std::string whole(double value) { return fmt::format("{:.0f}", value); }

std::string field(const Json& record, const char* key) { return record.at(key).get<std::string>(); }

constexpr const char* kCostModels =
    "<!-- Made by: thinwire list schemes --costs --markdown > docs/reference/cost-models.md -->\n"
    "# Cost models\n\n"
    "This page lists the cost models of all schemes and sparsifiers, for readers who compare\n"
    "simulations with the papers.\n\n"
    "- P is the number of ranks, n the number of components, and k the number of components\n"
    "  that each rank selects, or that all ranks together select ({}). Of an\n"
    "  allgather, n is the gathered vector, of an all-to-all what a rank sends in all.\n"
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
    "|---|---|---|---|---|---|---|\n";

std::string formulas_of(const std::vector<Json>& records) {
  std::string text;
  for (const Json& record : records) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", field(record, "scheme"),
                        code(field(record, "latency")), code(field(record, "bandwidth")),
                        code(field(record, "reduction")), cell(field(record, "exact_when")),
                        cell(field(record, "added")), cell(field(record, "source")));
  }
  return text;
}

std::string values_of(const std::vector<Json>& records) {
  const auto range = [](const Json& record, const char* low, const char* high) {
    return interval_of(whole(record.at(low).get<double>()), whole(record.at(high).get<double>()));
  };
  std::string text;
  for (const Json& record : records) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", field(record, "scheme"),
                        whole(record.at("paper_messages").get<double>()),
                        range(record, "paper_words_low", "paper_words_high"),
                        range(record, "run_messages_low", "run_messages_high"),
                        range(record, "run_words_low", "run_words_high"));
  }
  return text;
}

std::string sparsifiers_table() {
  std::string text;
  for (const SparsifierInfo& sparsifier : algorithms::all_sparsifiers()) {
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

constexpr const char* kCatalogue =
    "<!-- Made by: thinwire list schemes --markdown > algorithms/catalogue.md -->\n"
    "# Catalogue of schemes\n"
    "\n"
    "This page lists every scheme with its schedule, cost, requirements and source, for\n"
    "readers who look for an algorithm. The file of a scheme in `algorithms/schemes/` says\n"
    "more, with a worked example.\n"
    "\n"
    "- P is the number of ranks, n the number of components, and k the number of components\n"
    "  that each rank selects, or all ranks together where each has a part of its own. Other\n"
    "  names in formulas are options of the scheme.\n"
    "- The cost is the time of an iteration on the critical path: α seconds a message, β a\n"
    "  word of 4 bytes, γ a word that is added. `[a, b]` is an interval.\n"
    "  [Cost models](../docs/reference/cost-models.md) says when a run costs exactly this, and "
    "which\n"
    "  terms a formula leaves out.\n"
    "- Ranks number from 0; `rank ^ 1` is the rank whose number differs in the last bit.\n"
    "- Every scheme runs at any P and n. The column `requires` says what else a run must have.\n"
    "- Collectives other than allreduces take no part in trainings, and have no error feedback.\n";

/// What a scheme requires of a run. A sparsifier that not every scheme can carry is told apart.
std::string requirements_of(const SchemeInfo& scheme) {
  std::vector<std::string> texts;
  if (!scheme.needs.empty()) texts.push_back(scheme.needs);
  if (scheme.own_format) texts.emplace_back("values and indexes of 32 bits");
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// The sparsifiers whose selections only some schemes can carry, each with these schemes.
std::string carried_by_some() {
  std::string text;
  for (const SparsifierInfo& sparsifier : algorithms::all_sparsifiers()) {
    if (sparsifier.needs == algorithms::Needs::nothing) continue;
    std::vector<std::string> names;
    for (const SchemeInfo& scheme : algorithms::all_schemes()) {
      if (!scheme.dense && can_compose(scheme, sparsifier)) names.push_back(scheme.name);
    }
    text += fmt::format("- `{}`: {}\n", sparsifier.name, fmt::join(names, ", "));
  }
  return text;
}

std::string cost_of(const SchemeInfo& scheme) {
  const algorithms::PaperCost& paper = scheme.paper;
  std::string text = code(interval_of(paper.latency, paper.latency_high)) + " α";
  text += " + " + code(bandwidth_text(paper)) + " β";
  const std::string reduced = interval_of(paper.reduced, paper.reduced_high);
  if (reduced != "0") text += " + " + code(reduced) + " γ";
  return text;
}

/// A group of schemes that share a heading.
struct CatalogueSection {
  const char* text;
  Collective collective;
  bool dense;
};

constexpr std::array kSections{
    CatalogueSection{"\n## Dense allreduces\n\n"
                     "Every rank ends with the sum of all vectors.\n",
                     Collective::allreduce, true},
    CatalogueSection{
        "\n## Sparse allreduces\n\n"
        "Every rank ends with the sum of the entries that the ranks selected.\n"
        "`SCHEME+SPARSIFIER` is the scheme with another sparsifier than the one in its row.\n"
        "Layer by layer run the schemes in which every rank selects for itself. Some sparsifiers\n"
        "go with these schemes alone:\n",
        Collective::allreduce, false},
    CatalogueSection{"\n## Allgathers\n\n"
                     "Every rank ends with the vector whose block r comes from rank r.\n",
                     Collective::allgather, true},
    CatalogueSection{"\n## Reduce-scatters\n\nRank r ends with block r of the sum.\n",
                     Collective::reduce_scatter, true},
    CatalogueSection{"\n## All-to-alls\n\n"
                     "Rank r ends with block r of every rank's vector.\n",
                     Collective::alltoall, true},
    CatalogueSection{"\n## Ping-pong\n\n"
                     "Rank 0 and the last rank end with the vector of rank 0.\n",
                     Collective::ping_pong, true}};

std::string section_table(const CatalogueSection& section) {
  std::string text = section.text;
  if (!section.dense) text += "\n" + carried_by_some();
  text += section.dense ? "\n| scheme | schedule | cost | requires | source |\n"
                          "|---|---|---|---|---|\n"
                        : "\n| scheme | schedule | sparsifier | cost | requires | source |\n"
                          "|---|---|---|---|---|---|\n";
  for (const SchemeInfo& scheme : algorithms::schemes_of(section.collective)) {
    if (scheme.dense != section.dense) continue;
    const std::string sparsifier = section.dense ? "" : scheme.sparsifier + " | ";
    text +=
        fmt::format("| {} | {} | {}{} | {} | {} |\n", scheme.name, cell(scheme.summary), sparsifier,
                    cost_of(scheme), cell(requirements_of(scheme)), cell(scheme.source));
  }
  return text;
}

}  // namespace

std::string cost_models_markdown() {
  const CostPoint point;
  const std::vector<Json> records = cost_records(point);
  std::string text = fmt::format(
      kCostModels, fmt::join(algorithms::names_of_schemes(&SchemeInfo::selects_together), ", "));
  text += formulas_of(records);
  text += fmt::format(
      "\n## Values for BERT\n\n"
      "BERT on {} ranks at 1%: n = {}, k = {}. The columns 'paper' evaluate the formulas\n"
      "above. The columns 'run' add the terms that are left out, for an iteration without exact\n"
      "thresholds; they bound what a rank sends in a simulated run.\n\n"
      "| scheme | messages, paper | words, paper | messages, run | words, run |\n"
      "|---|---|---|---|---|\n",
      point.ranks, point.n, point.k);
  text += values_of(records);
  text +=
      "\n## Sparsifiers\n\n"
      "`SCHEME+SPARSIFIER` is a sparse scheme with another sparsifier, such as `oktopk+dgc`.\n\n"
      "| sparsifier | selects | requires of the collective | source |\n"
      "|---|---|---|---|\n";
  return text + sparsifiers_table();
}

std::string catalogue_markdown() {
  std::string text = kCatalogue;
  for (const CatalogueSection& section : kSections) text += section_table(section);
  return text;
}

}  // namespace thinwire::report
