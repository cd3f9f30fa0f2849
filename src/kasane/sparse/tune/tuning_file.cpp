#include <kasane/core/base/error.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/entry_file.hpp>
#include <kasane/sparse/tune/tuning_file.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace kasane::sparse {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

io::EntryFile entries_of(const fs::path& file) { return {file, "choices", "with the next choice"}; }

using io::text_of;

bool is_for(const json& entry, const TuningKey& key) {
    return text_of(entry, "version") == version && text_of(entry, "device") == key.device && text_of(entry, "matrix") == key.matrix &&
           text_of(entry, "asked") == key.asked;
}

/// `asked` with its open fields from the entry. @throws InputError where the entry says nothing that can be taken
SolverOptions filled_in(SolverOptions asked, const json& entry) {
    const auto decided = [&](auto value, auto open, const char* name) {
        KS_VALIDATE(!(value == open), fmt::format("it leaves {} open", name));
        return value;
    };
    if (asked.ordering.kind == OrderingKind::automatic)
        asked.ordering = decided(Ordering::parse(text_of(entry, "ordering")), Ordering{}, "ordering");
    if (asked.format.kind == FormatKind::automatic) asked.format = decided(Format::parse(text_of(entry, "format")), Format{}, "format");
    if (asked.numbering == Numbering::automatic)
        asked.numbering = decided(parse_numbering(text_of(entry, "numbering")), Numbering::automatic, "numbering");
    // These two may stay open: iteration is decided by what applies, launch means nothing on a CPU.
    if (asked.iteration == Iteration::automatic) asked.iteration = parse_iteration(text_of(entry, "iteration"));
    if (asked.launch == Launch::automatic) asked.launch = parse_launch(text_of(entry, "launch"));
    return asked;
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

Recalled recall(const fs::path& file, const TuningKey& key, const SolverOptions& asked) {
    Recalled out;
    if (file.empty()) return out;
    const auto entries = io::read_entries(entries_of(file));
    out.note = entries.note;
    for (auto entry = entries.list.rbegin(); entry != entries.list.rend(); ++entry) {  // the latest first
        if (!is_for(*entry, key)) continue;
        try {
            out.options = filled_in(asked, *entry);
            return out;
        } catch (const InputError& error) {
            out.note = fmt::format("{} has a choice for this matrix that cannot be taken: {}", file.string(), error.what());
        }
    }
    return out;
}

std::string remember(const fs::path& file, const TuningKey& key, const SolverOptions& chosen) {
    if (file.empty()) return "";
    const auto why_not = io::change_entries(entries_of(file), [&](json& list) {
        json kept = json::array();
        for (auto& entry : list)
            if (!is_for(entry, key)) kept.push_back(std::move(entry));
        kept.push_back({{"version", version},
                        {"device", key.device},
                        {"matrix", key.matrix},
                        {"asked", key.asked},
                        {"ordering", chosen.ordering.text()},
                        {"numbering", name(chosen.numbering)},
                        {"format", chosen.format.text()},
                        {"iteration", name(chosen.iteration)},
                        {"launch", name(chosen.launch)}});
        list = std::move(kept);
    });
    return why_not.empty() ? "" : "the choice was not kept: " + why_not;  // the solve goes on
}

}  // namespace kasane::sparse
