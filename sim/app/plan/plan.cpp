#include "sim/app/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/plan/approximate.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/rules.hpp"
#include "sim/app/plan/setting_members.hpp"
#include "sim/core/base/complaints.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/kept_files.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "traces/shipped.hpp"

namespace thinwire::plan {

namespace {

constexpr const char* kMachineFiles = ".json";  ///< how descriptions of machines end
constexpr const char* kNoSuchOption = "no scheme here has this option; see 'thinwire list schemes'";

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Length and time of the last change of a file, as KeptFiles wants it of large files.
std::string written_at(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const auto bytes = std::filesystem::file_size(path, error);
  const auto time = std::filesystem::last_write_time(path, error).time_since_epoch();
  return error ? std::string() : fmt::format("{} {}", bytes, time.count());
}

/// Whether a scheme or a sparsifier of the registry has the option.
bool is_option_of_any(const std::string& name) {
  static const std::vector<algorithms::OptionInfo> all = algorithms::all_options();
  return algorithms::has_option(all, name);
}

/// Settles a request, step by step; each step reads what those before it have settled.
class Resolving {
 public:
  explicit Resolving(Request request) : request_(std::move(request)) {}

  Plan plan() {
    check_point(request_.values(), request_.where());
    take_machine();
    take_names();
    complaints_.check();
    take_options_of_machine();
    if (!point_.workload.model.empty()) take_model();
    take_settings();
    if (!point_.input.trace.empty()) {
      take_trace();
    } else if (!point_.input.profile.empty()) {
      take_profile();
    }
    if (readable_) take_options();
    check_circumstances();
    const Facts facts{request_, point_};
    for (const Rule& rule : rules()) {
      if (rule.applies(facts)) complaints_.add(rule.complaint(facts));
    }
    if (!readable_) complaints_.check();
    Sparsity sparsity;
    complaints_.attempt([&] { sparsity = set_sparsity(point_, request_, density_); });
    point_.approximates_chunks = static_cast<bool>(point_.scheme->stand_ins.pipeline);
    complaints_.attempt([&] { check_approximation(point_, request_.where()); });
    complaints_.check();
    note_what_is_idle();
    return {std::move(point_), sparsity, std::move(given_)};
  }

 private:
  void refuse(const std::string& path, const std::string& why) {
    complaints_.add(fmt::format("{}: {}: {}", request_.where(), pointer_of(path), why));
  }
  /// Calls `work`, whose errors are of the setting at `path`.
  template <class Work>
  bool attempt(const std::string& path, Work work) {
    try {
      work();
      return true;
    } catch (const InputError& error) {
      refuse(path, error.what());
      return false;
    }
  }
  template <class Value>
  void take(const char* path, Value& value) {
    if (const Json* const given = request_.find(path)) plan::take(*given, value);
  }
  /// Gives what a model brings, unless the request gives it.
  void bring(const char* path, const Json& value) {
    if (!request_.has(path)) request_.give(path, value, Origin::model);
  }
  [[nodiscard]] bool has_selection() const { return request_.has("k") || request_.has("density"); }

  /// A platform may be the description of a machine, which has a platform and settings for it.
  void take_machine() {
    const Json* const given = request_.find("platform");
    if (given == nullptr) return;
    const std::string path = given->get<std::string>();
    if (!path.ends_with(kMachineFiles)) return;
    static KeptFiles<Json> descriptions(read_json, written_at);
    const auto description = descriptions.at(path);
    if (!description->is_object() || !description->contains("settings")) {
      throw InputError("{}: is not the description of a machine: it has no 'settings'", path);
    }
    const Json& settings = description->at("settings");
    check_point(settings, path + ": /settings");
    request_.give("platform", settings.value("platform", ""), request_.origin_of("platform"));
    for (const Setting& setting : point_settings()) {
      if (setting.kind == SettingKind::options) continue;
      if (const Json* const value = find_by_path(settings, setting.path)) {
        bring(setting.path.c_str(), *value);
      }
    }
    options_of_machine_ = settings.value("options", Json::object());
  }

  /// Takes the options of the machine's description that the scheme has.
  void take_options_of_machine() {
    for (const auto& option : options_of_machine_.items()) {
      if (!algorithms::has_option(point_.scheme->options, option.key())) continue;
      bring(("options." + option.key()).c_str(), option.value());
    }
  }

  /// What decides which settings are read.
  void take_names() {
    attempt("network", [&] { take("network", point_.network); });
    attempt("scheme", [&] { take("scheme", point_.scheme); });
    take("workload.model", point_.workload.model);
    attempt("tensor_scheme", [&] { take("tensor_scheme", point_.tensor_scheme); });
    take_groups();
    take("input.trace", point_.input.trace);
    take("input.profile", point_.input.profile);
    if (point_.network->platform != PlatformUse::none) {
      take("platform", point_.platform);
      take_default_platform();
    }
  }
  /// How many ranks there are follows from the groups, unless the request says it.
  void take_groups() {
    const Json* const given = request_.find("parallel");
    if (given == nullptr) return;
    attempt("parallel",
            [&] { point_.parallel = workloads::parallel_from(given->get<std::string>()); });
    const workloads::Parallel& groups = point_.parallel;
    if (groups.data > 0) bring("ranks", groups.tensor * groups.data);
  }
  void take_default_platform() {
    if (point_.network->platform == PlatformUse::needed && point_.platform.empty()) {
      point_.platform = kDefaultPlatform;
    }
  }

  /// Takes the gradient's size, density and profile from the model where the request gives none.
  void take_model() {
    bring("iterations", 0);
    // A complete point can be read without the file of the model.
    if (request_.has("components") && request_.has("k") && request_.has("input") &&
        request_.has("options") && request_.has("workload.device")) {
      return;
    }
    static KeptFiles<workloads::Model> models(workloads::read_model);
    static KeptFiles<workloads::Device> devices(workloads::read_device);
    std::shared_ptr<const workloads::Model> kept;
    readable_ = attempt("workload.model", [&] {
      kept = models.at(workloads::kModels.file(point_.workload.model));
      if (kept->compute.empty()) throw InputError("it has no computing time on any device");
    });
    if (!readable_) return;
    const workloads::Model model = workloads::divided(*kept, point_.parallel.tensor);
    if (point_.sums_activations() && !model.sums_activations()) {
      refuse("parallel",
             fmt::format("the file of {} does not say which activations tensor-parallel "
                         "ranks sum (forward_sum and backward_sum of its layers)",
                         model.name));
    }
    bring("workload.device", model.compute.front().device);
    attempt("workload.device", [&] {
      const std::string device = request_.find("workload.device")->get<std::string>();
      const auto known = devices.at(workloads::kDevices.file(device));
      static_cast<void>(workloads::compute_on(model, known->name));
    });
    const bool recorded = !point_.input.trace.empty();
    if (!request_.has("input")) request_.give("input.statistical", true, Origin::model);
    if (!recorded && point_.input.profile.empty() && !asks_for_synthetic()) {
      point_.input.profile = model.profile;
      request_.give("input.profile", model.profile, Origin::model);
    }
    if (!recorded && !has_selection()) request_.give("density", model.density, Origin::model);
    bring("components", model.components);
    if (*request_.find("components") != model.components) {
      refuse("components",
             fmt::format("the model {} has {}{}", model.name, model.components,
                         point_.parallel.tensor > 1 ? " on each tensor-parallel rank" : ""));
    }
    options_of_model_ = model.options;
  }

  /// Whether a setting of synthetic gradients is given.
  [[nodiscard]] bool asks_for_synthetic() const {
    return std::ranges::any_of(point_settings(), [&](const Setting& setting) {
      return std::ranges::find(setting.when, &kSynthetic) != setting.when.end() &&
             request_.has(setting.path);
    });
  }

  /// Takes the settings that the run reads, and notes those that are given.
  void take_settings() {
    for (const Setting& setting : point_settings()) {
      const Json* const value = request_.find(setting.path);
      if (value == nullptr) continue;
      if (const std::optional<std::string> why = why_left_out(setting, *value)) {
        if (!why->empty()) {
          given_.push_back({setting.path, request_.origin_of(setting.path), Use::left_out, *why});
        }
        continue;
      }
      note(setting.path);
      const Json number = without_unit(*value, setting);
      const bool word = number.is_string() && setting.kind != SettingKind::text;
      if (setting.set && !word) setting.set(point_, number);
    }
    take_default_platform();  // an empty one may be given
  }

  /// Nothing if the run has a place for the setting; empty if nobody need be told why not.
  std::optional<std::string> why_left_out(const Setting& setting, const Json& value) {
    if (!setting.networks.has(point_.network->id)) {
      if (is_default(setting, value)) return "";
      return fmt::format("the network {} does not use this setting; {} {}", point_.network->name,
                         setting.readers(), setting.networks.size() == 1 ? "does" : "do");
    }
    for (const Circumstance* const circumstance : setting.when) {
      if (!circumstance->chosen || circumstance->on(point_)) continue;
      if (!circumstance->refused) return circumstance->otherwise;
      if (is_default(setting, value)) continue;
      refuse(setting.path, circumstance->otherwise);
    }
    return std::nullopt;
  }

  void note(const std::string& path) {
    const Origin origin = request_.origin_of(path);
    if (origin >= Origin::config) given_.push_back({.path = path, .origin = origin});
  }

  /// Takes n from the trace, and k unless it is given.
  void take_trace() {
    const bool read = attempt("input.trace", [&] {
      const std::string path = traces::kTraces.file(point_.input.trace);
      // A complete point can be read without the file of the trace.
      const bool complete =
          request_.has("ranks") && request_.has("components") && request_.has("k");
      if (complete && !exists(path)) return;
      static KeptFiles<traces::TraceHeader> headers(
          [](const std::string& file) { return traces::TraceReader(file).header(); }, written_at);
      header_ = *headers.at(path);
    });
    if (!read) readable_ = false;
    if (!header_) return;
    if (!request_.has("ranks")) point_.ranks = header_->ranks * point_.parallel.tensor;
    if (!request_.has("components")) point_.space.components = header_->components;
    point_.k = header_->k();
    try {
      check_trace(point_, *header_);
    } catch (const InputError& error) {
      complaints_.add(fmt::format("{}: {}", request_.where(), error.what()));
    }
  }

  /// Takes n, the density and options from the profile.
  void take_profile() {
    const bool read = attempt("input.profile", [&] {
      const std::string path = traces::kProfiles.file(point_.input.profile);
      // A complete point can be read without the file of the profile.
      const auto is_given = [&](const algorithms::OptionInfo& option) {
        return point_.options.contains(option.name);
      };
      if (request_.has("components") && has_selection() &&
          std::ranges::all_of(point_.scheme->options, is_given)) {
        return;
      }
      static KeptFiles<traces::Profile> profiles(traces::read_profile);
      const auto profile = profiles.at(path);
      options_of_profile_ = profile->options;
      density_ = profile->density;
      if (!request_.has("components")) point_.space.components = profile->components;
    });
    if (!read) readable_ = false;
  }

  /// Completes the options of the scheme: by the model's, the profile's, their defaults.
  void take_options() {
    std::erase_if(point_.options, [&](const auto& option) {
      const std::string path = "options." + option.first;
      if (algorithms::has_option(point_.scheme->options, option.first)) {
        note(path);
        return false;
      }
      const Origin origin = request_.origin_of(path);
      const bool for_this = origin < Origin::config || origin == Origin::options_of;
      if (for_this || !is_option_of_any(option.first)) return false;
      given_.push_back({path, origin, Use::left_out, kNoSuchOption});
      return true;
    });
    for (const DefaultOptions* const options : {&options_of_model_, &options_of_profile_}) {
      for (const auto& [name, value] : options->values) {
        if (algorithms::has_option(point_.scheme->options, name))
          point_.options.try_emplace(name, value);
      }
    }
    try {
      point_.options = algorithms::Options(point_.scheme->options, point_.options).all();
    } catch (const InputError& error) {
      complaints_.add(fmt::format("{}: /options: scheme {}: {}", request_.where(),
                                  point_.scheme->name, error.what()));
      readable_ = false;
    }
  }

  /// Refuses settings that contradict the rest of the point.
  void check_circumstances() {
    for (const Setting& setting : point_settings()) {
      for (const Circumstance* const circumstance : setting.when) {
        if (!circumstance->refused || circumstance->chosen || circumstance->on(point_)) continue;
        const std::optional<Json> value = setting.get(point_);
        if (value && !is_default(setting, *value)) refuse(setting.path, circumstance->otherwise);
      }
    }
  }

  /// Notes what is read and changes nothing all the same; defaults ask for nothing.
  void note_what_is_idle() {
    const algorithms::Options options(point_.scheme->options, point_.options);
    const algorithms::OptionUse use{.options = options,
                                    .ranks = point_.data_ranks(),
                                    .n = point_.space.components,
                                    .values = looks_at_values(point_),
                                    .start_up = point_.input.start_up};
    for (Given& given : given_) {
      if (given.use == Use::left_out) continue;
      if (given.path.starts_with("options.")) {
        judge_option(given, use);
      } else {
        judge_setting(given);
      }
      if (!given.why.empty()) given.use = Use::idle;
    }
  }

  void judge_option(Given& given, const algorithms::OptionUse& use) const {
    const std::string name = given.path.substr(given.path.find('.') + 1);
    const auto info =
        std::ranges::find(point_.scheme->options, name, &algorithms::OptionInfo::name);
    if (use.options.all().at(name) == info->fallback) {
      given.use = Use::standard;
    } else if (info->idle) {
      given.why = info->idle(use);
    }
  }

  void judge_setting(Given& given) const {
    const Setting& setting = setting_at(given.path);
    // A default that depends on the run is given for a reason.
    if (setting.standard.empty() && is_default(setting, *request_.find(given.path))) {
      given.use = Use::standard;
      return;
    }
    const auto failing = std::ranges::find_if(setting.when, [&](const Circumstance* circumstance) {
      return !circumstance->chosen && !holds(*circumstance, point_);
    });
    if (failing != setting.when.end()) given.why = text_of(**failing);
  }

  Request request_;
  Complaints complaints_;
  bool readable_ = true;  ///< so were all files and options, without which no value is settled
  Point point_;
  double density_ = kDensity;
  std::optional<traces::TraceHeader> header_;
  DefaultOptions options_of_model_;
  Json options_of_machine_ = Json::object();
  DefaultOptions options_of_profile_;
  std::vector<Given> given_;
};

}  // namespace

std::string Given::reason() const {
  const bool changes_nothing = use == Use::idle || why == kNoSuchOption;
  return (changes_nothing ? "it changes nothing here: " : "") + why;
}

std::string Given::complaint() const { return pointer_of(path) + ": " + reason(); }

Plan::Plan(Point point, Sparsity sparsity, std::vector<Given> given)
    : point_(std::move(point)), sparsity_(sparsity), given_(std::move(given)) {}

Plan resolve(Request request) { return Resolving(std::move(request)).plan(); }

void Usage::add(const Plan& plan) {
  for (const Given& given : plan.given()) {
    const auto [known, fresh] = given_.emplace(given.path, given);
    if (!fresh && known->second.use < given.use) known->second = given;
  }
}

std::vector<Given> Usage::unread() const {
  std::vector<Given> found;
  for (const auto& [path, given] : given_) {
    if (given.use == Use::left_out || given.use == Use::idle) found.push_back(given);
  }
  return found;
}

void Usage::check(const std::string& where) const {
  Complaints complaints;
  for (const Given& given : unread()) complaints.add(where + ": " + given.complaint());
  complaints.check();
}

}  // namespace thinwire::plan
