#include <kasane/core/io/json_value.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/run/driver/run_texts.hpp>
#include <kasane/run/gauge/predict_lattice.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace kasane::run {
namespace {

constexpr int most_devices = 64;
/// Relative error within the measured sizes: H200 of another host take up to 1.086 times the time that the model of two predicts.
constexpr double device_error = 0.09;
/// More for each halving of the local lattice below the measured ones: 0.86 of the predicted time were measured at half of them.
constexpr double error_per_halving = 0.1;
constexpr double efficient = 0.5;  ///< strong efficiency at which scaling ends

constexpr std::string_view hop_case = "lattice.scaling, hop, ", solve_case = "lattice.scaling, solve, inner ";

/// "half-12, 24x24x24x48, P 4" -> the storage and the extents.
struct CaseName {
    std::string storage;
    lattice::Extents extents;
};

std::optional<CaseName> case_name(std::string_view text) {
    const auto comma = text.find(", ");
    if (comma == std::string_view::npos) return {};
    CaseName name{std::string(text.substr(0, comma)), {}};
    const std::string numbers(text.substr(comma + 2));
    const char* at = numbers.c_str();
    for (int mu = 0; mu < 4; ++mu) {
        char* end = nullptr;
        const long n = std::strtol(at, &end, 10);
        if (end == at || n < 2 || n > 4096 || n % 2 != 0 || *end != (mu < 3 ? 'x' : ',')) return {};
        name.extents.n[mu] = static_cast<int>(n);
        at = end + 1;
    }
    return name;
}

/// The numbers of devices of a prediction with their grids.
std::vector<lattice::RankGrid> grids(const lattice::Extents& extents, int workers) {
    std::vector<lattice::RankGrid> all;
    for (int p = 1; p <= (workers > 0 ? workers - 1 : most_devices); p *= 2)
        if (!lattice::usable_grids(extents, p).empty()) all.push_back(lattice::RankGrid::chosen(extents, p));
    if (workers > 0) all.push_back(lattice::RankGrid::chosen(extents, workers));
    return all;
}

/// One device with the local lattice of a grid.
lattice::RankGrid local_alone(const lattice::RankGrid& grid) { return lattice::RankGrid::chosen(grid.local(), 1); }

std::string limit_of(const LatticeTime& time) {
    const std::vector<std::pair<double, const char*>> parts{{time.hops.interior + time.vectors, "interior"},
                                                            {time.hops.start + time.hops.latency + time.start, "latency"},
                                                            {time.hops.halo, "halo"},
                                                            {time.sums, "sums"}};
    return std::ranges::max_element(parts)->second;
}

void add_efficiencies(LatticeScaling& part, const std::vector<double>& alone) {
    part.fastest = std::ranges::min_element(part.times, {}, &LatticeTime::seconds)->grid.size();
    for (std::size_t k = 0; k < part.times.size(); ++k) {
        auto& time = part.times[k];
        time.strong = part.times.front().seconds / (time.grid.size() * time.seconds);
        time.weak = alone[k] / time.seconds;
        time.limit = limit_of(time);
        if (part.ends_in_table) continue;
        if (time.strong >= efficient)
            part.strong_end = time.grid.size();
        else
            part.ends_in_table = true;
    }
}

/// The range: the fit or another host, sizes below the measured ones, faces of other directions, sums of more devices.
void add_range(LatticeTime& time, const lattice::HopModel& hop, double fit, int measured_sums) {
    double off = std::max(device_error, fit);
    const auto own = static_cast<double>(time.grid.local().volume());
    if (own < hop.fewest_sites()) off += error_per_halving * std::log2(hop.fewest_sites() / own);
    const bool other_faces = time.grid.divided(0) || time.grid.divided(1) || time.grid.divided(2);
    const double growth =
        time.grid.size() > measured_sums ? time.sums * (1 - std::log2(std::max(2, measured_sums)) / std::log2(time.grid.size())) : 0;
    time.low = std::max(0.1, 1 - off) * (time.seconds - growth);
    time.high = (1 + off) * (time.seconds + (growth > 0 ? time.sums : 0) + (other_faces ? time.hops.halo : 0));
}

LatticeScaling scaled_hop(const std::string& storage, const lattice::HopModel& model, const std::vector<lattice::RankGrid>& all) {
    LatticeScaling part;
    part.storage = storage, part.fit = model.largest();
    part.latency = model.latency(), part.bandwidth = model.bandwidth();
    std::vector<double> alone;
    for (const auto& grid : all) {
        LatticeTime time{grid, 0, 0, 0, model.time(grid), 0, 0, 0, 1, 1, ""};
        time.seconds = time.hops.total();
        add_range(time, model, part.fit, 1);
        part.times.push_back(time);
        alone.push_back(model.time(local_alone(grid)).total());
    }
    add_efficiencies(part, alone);
    return part;
}

LatticeScaling scaled_iteration(const std::string& storage, const lattice::IterationModel& model,
                                const std::vector<lattice::RankGrid>& all) {
    LatticeScaling part;
    part.iteration = true, part.storage = storage, part.fit = model.largest(), part.sums = model.sums();
    std::vector<double> alone;
    for (const auto& grid : all) {
        const auto modelled = model.time(grid);
        LatticeTime time{grid, modelled.total(), 0, 0, modelled.hops, modelled.start, modelled.vectors, modelled.sums, 1, 1, ""};
        add_range(time, model.hop(), part.fit, model.most_workers());
        part.times.push_back(time);
        alone.push_back(model.time(local_alone(grid)).total());
    }
    add_efficiencies(part, alone);
    return part;
}

}  // namespace

LatticeRecord read_lattice_record(const std::filesystem::path& path) {
    const Where where{path.string(), 0, 0, ""};
    const auto text = content(path);
    KS_VALIDATE(text, "cannot be read: give a record of `kasane bench lattice.scaling`", where);
    LatticeRecord found;
    bool messages = false;
    try {
        const auto record = io::parse_json(*text, path);
        if (const auto machine = record.find("machine"); machine != record.end() && machine->is_object())
            found.device = machine->value("name", "");
        for (const auto& each : record.at("results")) {
            const auto row = each.at("case").get<std::string>();
            const bool hop = row.starts_with(hop_case);
            if (!hop && !row.starts_with(solve_case)) continue;
            const auto number = [&](const char* key) {
                const double value = each.at(key).get<double>();
                KS_VALIDATE(std::isfinite(value) && value >= 0, fmt::format("has no usable {} in \"{}\"", key, row), where);
                return value;
            };
            const auto name = case_name(std::string_view(row).substr(hop ? hop_case.size() : solve_case.size()));
            const double workers = number("members"), seconds = number("seconds");
            KS_VALIDATE(name && workers >= 1 && workers <= 4096 && seconds > 0, fmt::format("has an unreadable row \"{}\"", row), where);
            const int count = static_cast<int>(workers);
            // The benchmark divides time alone.
            KS_VALIDATE(name->extents[3] % (2 * count) == 0, fmt::format("has a row with odd local extents, \"{}\"", row), where);
            const auto grid = lattice::RankGrid::given(name->extents, count, {1, 1, 1, count});
            if (!hop) {
                const double iterations = number("inner_iterations");
                if (iterations >= 1) found.solves[name->storage].push_back({grid, seconds / iterations});
                continue;
            }
            messages |= count > 1 && each.value("in_kernels", 0.) != 1;
            const double alone = number("alone_seconds");
            KS_VALIDATE(alone > 0, fmt::format("has no usable alone_seconds in \"{}\"", row), where);
            // On one device both are times of the same kernel.
            if (count == 1)
                found.hops[name->storage].push_back({grid, std::min(seconds, alone), std::min(seconds, alone), 0});
            else
                found.hops[name->storage].push_back({grid, seconds, alone, number("face_bytes")});
        }
    } catch (const io::Json::exception&) {
        throw InputError("is not a record of `kasane bench lattice.scaling`", where);
    }
    KS_VALIDATE(!messages,
                "has hops whose workers exchange messages, which are not predicted: give a record of several GPUs of one rank that reach "
                "each other's memory",
                where);
    std::erase_if(found.hops, [](const auto& rows) {
        const auto one = [](const auto& row) { return row.grid.size() == 1; };
        return std::ranges::none_of(rows.second, one) || std::ranges::all_of(rows.second, one);
    });
    KS_VALIDATE(!found.hops.empty(),
                "has no hops of one device and of several: give a record of `kasane bench lattice.scaling` on several devices", where);
    return found;
}

LatticePrediction predict_lattice(const lattice::Extents& extents, const LatticeRecord& record, int workers) {
    const auto all = grids(extents, workers);
    LatticePrediction out{extents, record.device, {}, {}};
    std::vector<LatticeScaling> iterations;
    int most = 1, most_solved = 1;
    double fewest = 0;
    for (const auto& [storage, rows] : record.hops) {
        const lattice::HopModel hop(rows);
        most = std::max(most, hop.most_workers());
        fewest = std::max(fewest, hop.fewest_sites());
        out.parts.push_back(scaled_hop(storage, hop, all));
        const auto solves = record.solves.find(storage);
        if (solves == record.solves.end()) continue;
        const auto one = [](const auto& row) { return row.grid.size() == 1; };
        if (std::ranges::none_of(solves->second, one) || std::ranges::all_of(solves->second, one)) continue;
        const lattice::IterationModel iteration(hop, solves->second);
        most_solved = std::max(most_solved, iteration.most_workers());
        iterations.push_back(scaled_iteration(storage, iteration, all));
    }
    if (iterations.empty()) out.doubts.emplace_back("the record has no solves of one device and of several: iterations are left out");
    const auto& last = all.back();
    if (last.size() > most)
        out.doubts.push_back(
            fmt::format("at most {} devices were measured: more are assumed to reach each other's memory as fast, as on one host", most));
    if (!iterations.empty() && last.size() > most_solved)
        out.doubts.push_back(fmt::format("sums are assumed to take one time for each doubling of the devices beyond {}", most_solved));
    if (std::ranges::any_of(all, [&](const auto& grid) { return static_cast<double>(grid.local().volume()) < fewest; }))
        out.doubts.push_back(fmt::format("local lattices of fewer than {:.0f} sites were not measured", fewest));
    if (std::ranges::any_of(all, [](const auto& grid) { return grid.divided(0) || grid.divided(1) || grid.divided(2); }))
        out.doubts.emplace_back("lattices divided in x, y or z were not measured");
    for (auto& iteration : iterations) out.parts.push_back(std::move(iteration));
    return out;
}

}  // namespace kasane::run
