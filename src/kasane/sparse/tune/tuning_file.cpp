#include <kasane/core/io/json_value.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/entry_file.hpp>
#include <kasane/sparse/tune/tuning_file.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace kasane::sparse {
namespace {

using io::Json;
namespace fs = std::filesystem;

io::EntryFile entries_of(const fs::path& file) { return {file, "choices", "with the next choice"}; }

using io::text_of;

bool is_for(const Json& entry, const TuningKey& key) {
    return text_of(entry, "version") == version && text_of(entry, "device") == key.device && text_of(entry, "matrix") == key.matrix &&
           text_of(entry, "asked") == key.asked;
}

/// `asked` with its open fields from the entry. @throws InputError where the entry is not usable
SolverOptions filled_in(SolverOptions asked, const Json& entry) {
    const auto decided = [&](auto value, auto open, const char* name) {
        KS_VALIDATE(!(value == open), fmt::format("it leaves {} open", name));
        return value;
    };
    if (asked.ordering.kind == OrderingKind::automatic)
        asked.ordering = decided(Ordering::parse(text_of(entry, "ordering")), Ordering{}, "ordering");
    if (asked.format.kind == FormatKind::automatic) asked.format = decided(Format::parse(text_of(entry, "format")), Format{}, "format");
    if (asked.numbering == Numbering::automatic)
        asked.numbering = decided(parse_numbering(text_of(entry, "numbering")), Numbering::automatic, "numbering");
    // These two may stay open: the form of the iteration depends on what applies, and the launch has no meaning on a CPU.
    if (asked.iteration == Iteration::automatic) asked.iteration = parse_iteration(text_of(entry, "iteration"));
    if (asked.launch == Launch::automatic) asked.launch = parse_launch(text_of(entry, "launch"));
    return asked;
}

/// The fields that a choice decides.
Json choice_json(const SolverOptions& chosen) {
    return {{"ordering", chosen.ordering.text()},
            {"numbering", name(chosen.numbering)},
            {"format", chosen.format.text()},
            {"iteration", name(chosen.iteration)},
            {"launch", name(chosen.launch)}};
}

/// A number of the entry that is finite and not negative; 0 where it is missing.
double number_of(const Json& entry, const char* name) {
    const auto found = entry.find(name);
    const double value = found != entry.end() && found->is_number() ? found->get<double>() : 0;
    return std::isfinite(value) && value > 0 ? value : 0;
}

Json trial_json(const TuneTrial& trial) {
    auto object = choice_json(trial.options);
    object["seconds_per_iteration"] = trial.seconds_per_iteration;
    object["progress"] = Json::array();
    for (const auto& p : trial.progress) object["progress"].push_back({p.iterations, p.energy, p.residual});
    return object;
}

/// @throws InputError, json::exception where it is not usable
TuneTrial trial_from(const Json& object, const SolverOptions& asked) {
    TuneTrial trial;
    trial.options = filled_in(asked, object);
    trial.seconds_per_iteration = number_of(object, "seconds_per_iteration");
    KS_VALIDATE(trial.seconds_per_iteration > 0, "a trial has no time");
    for (const auto& p : object.at("progress"))
        trial.progress.push_back({p.at(0).get<int>(), p.at(1).get<double>(), p.at(2).get<double>()});
    return trial;
}

constexpr int layout = 2;  ///< of an entry; earlier layouts have no such number, and their timings may be those of a busy machine

/// The record of an entry. @throws InputError where the choice is not usable
TuningRecord record_from(const Json& entry, const SolverOptions& asked) {
    TuningRecord record;
    record.solve_seconds = number_of(entry, "solve_seconds");
    record.setup_seconds = number_of(entry, "setup_seconds");
    record.iteration_seconds = number_of(entry, "iteration_seconds");
    record.rule_decade = number_of(entry, "rule_seconds_per_decade");
    record.choice_decade = number_of(entry, "choice_seconds_per_decade");
    record.uses = static_cast<int>(std::min(number_of(entry, "uses"), 1e6));
    if (const auto trials = entry.find("trials"); trials != entry.end() && trials->is_array())
        for (const auto& object : *trials) {
            try {
                record.trials.push_back(trial_from(object, asked));
            } catch (const std::exception&) {  // it runs again
            }
        }
    if (entry.contains("ordering")) record.choice = filled_in(asked, entry);
    return record;
}

Json entry_of(const TuningKey& key, const TuningRecord& record) {
    Json entry{{"version", version}, {"device", key.device}, {"matrix", key.matrix}, {"asked", key.asked}, {"layout", layout}};
    if (record.choice) entry.update(choice_json(*record.choice));
    entry.update({{"uses", record.uses},
                  {"solve_seconds", record.solve_seconds},
                  {"setup_seconds", record.setup_seconds},
                  {"iteration_seconds", record.iteration_seconds},
                  {"rule_seconds_per_decade", record.rule_decade},
                  {"choice_seconds_per_decade", record.choice_decade}});
    entry["trials"] = Json::array();
    for (const auto& trial : record.trials) entry["trials"].push_back(trial_json(trial));
    return entry;
}

/// The latest record of the key among the entries. @param note  the problem, if any
TuningRecord latest(const Json& entries, const std::string& file, const TuningKey& key, const SolverOptions& asked, std::string& note) {
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        if (!is_for(*entry, key)) continue;
        if (number_of(*entry, "layout") != layout) {
            note =
                file + " has a choice for this matrix in an older layout, which may have been timed beside other programs: it is not used";
            continue;
        }
        try {
            return record_from(*entry, asked);
        } catch (const InputError& error) {
            note = fmt::format("{} has a choice for this matrix that cannot be taken: {}", file, error.what());
        }
    }
    return {};
}

std::string number_of_lengths(const CsrView& A) {
    index_t longest = 0;
    for (index_t row = 0; row < A.n; ++row) longest = std::max(longest, A.end(row) - A.begin(row));
    std::vector<std::int64_t> count(static_cast<std::size_t>(longest) + 1, 0);
    for (index_t row = 0; row < A.n; ++row) ++count[static_cast<std::size_t>(A.end(row) - A.begin(row))];
    io::Checksum sum;
    sum.add(count);
    return fmt::format("{:016x}", sum.value());
}

/// Distances from the diagonal that a gather spans, to a factor of two: of the farthest entry of each row, on average.
int bandwidth_class(const CsrView& A) {
    double sum = 0;
    for (index_t row = 0; row < A.n; ++row) {
        index_t far = 0;
        for (index_t e = A.begin(row); e < A.end(row); ++e) far = std::max(far, std::abs(A.column(e) - row));
        sum += static_cast<double>(far);
    }
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(A.n > 0 ? sum / static_cast<double>(A.n) : 0.)));
}

}  // namespace

TuningKey tuning_key(const std::string& device, const CsrView& A, const SolverOptions& asked) {
    return {device,
            fmt::format("rows {} entries {} lengths {} bandwidth 2^{}", A.n, A.n > 0 ? A.end(A.n - 1) : 0, number_of_lengths(A),
                        bandwidth_class(A)),
            fmt::format("ordering {} numbering {} format {} precondition {}{}{} iteration {} launch {}", asked.ordering.text(),
                        name(asked.numbering), asked.format.text(), name(asked.precondition),
                        asked.precondition == Precondition::ssor ? fmt::format(" omega {}", asked.ssor_omega) : "",
                        asked.single_factor ? " in float" : "", name(asked.iteration), name(asked.launch))};
}

fs::path default_tuning_file() { return io::cache_file("tuning.json"); }

std::string why_tuning_kept(const fs::path& file) { return io::read_entries(entries_of(file)).why_kept; }

Recalled recall(const fs::path& file, const TuningKey& key, const SolverOptions& asked) {
    Recalled out;
    if (file.empty()) return out;
    const auto entries = io::read_entries(entries_of(file));
    out.note = entries.note;
    out.record = latest(entries.list, file.string(), key, asked, out.note);
    return out;
}

std::string remember(const fs::path& file, const TuningKey& key, const SolverOptions& asked,
                     const std::function<void(TuningRecord&)>& change) {
    if (file.empty()) return "";
    const auto why_not = io::change_entries(entries_of(file), [&](Json& list) {
        std::string ignored;
        auto record = latest(list, file.string(), key, asked, ignored);
        change(record);
        Json kept = Json::array();
        for (auto& entry : list)
            if (!is_for(entry, key)) kept.push_back(std::move(entry));
        kept.push_back(entry_of(key, record));
        list = std::move(kept);
    });
    return why_not.empty() ? "" : "times and choices were not kept: " + why_not;  // the solve continues
}

}  // namespace kasane::sparse
