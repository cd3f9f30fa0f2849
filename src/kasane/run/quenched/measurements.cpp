#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/input_file.hpp>
#include <kasane/run/quenched/measurements.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace kasane::run {
namespace {

constexpr const char* header = "sweep,plaquette,plaquette_space,plaquette_time,polyakov_re,polyakov_im";

}  // namespace

void write_measurements(const std::filesystem::path& path, const std::vector<Measurement>& rows) {
    auto text = std::string(header) + "\n";
    for (const auto& m : rows)
        text += fmt::format("{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g}\n", m.sweep, m.plaquette(), m.plaquette_space, m.plaquette_time,
                            m.polyakov_re, m.polyakov_im);
    write_atomically(path, text);
}

std::vector<Measurement> read_measurements(const std::filesystem::path& path) {
    io::check_regular_file(path, "a table of measurements");
    std::ifstream file(path, std::ios::binary);
    KS_VALIDATE(file, "cannot be read", {path.string(), 0, 0, ""});
    std::string line;
    std::getline(file, line);
    KS_VALIDATE(line == header, fmt::format("does not begin with the line \"{}\"", header), {path.string(), 1, 0, ""});
    std::vector<Measurement> rows;
    for (int number = 2; std::getline(file, line); ++number) {
        Measurement m;
        double plaquette = 0;
        std::string_view rest = line;
        const bool good = take(rest, m.sweep) && take(rest, plaquette) && take(rest, m.plaquette_space) && take(rest, m.plaquette_time) &&
                          take(rest, m.polyakov_re) && take(rest, m.polyakov_im) && rest.empty();
        KS_VALIDATE(good, "is not a row of six numbers", {path.string(), number, 0, ""});
        rows.push_back(m);
    }
    return rows;
}

std::vector<Measurement> measured(const std::vector<Measurement>& rows, std::int64_t thermalisation) {
    const auto first = std::ranges::find_if(rows, [&](const auto& m) { return m.sweep > thermalisation; });
    return {first, rows.end()};
}

QuenchedMeans means_of(const std::vector<Measurement>& all, std::int64_t thermalisation, std::int64_t measure_every,
                       const lattice::Extents& extents) {
    const auto rows = measured(all, thermalisation);
    const auto of = [&](auto value) {
        auto e = lattice::estimate(column(rows, value));
        e.tau *= static_cast<double>(measure_every), e.tau_error *= static_cast<double>(measure_every);
        return e;
    };
    QuenchedMeans means;
    means.plaquette = of([](const auto& m) { return m.plaquette(); });
    means.plaquette_space = of([](const auto& m) { return m.plaquette_space; });
    means.plaquette_time = of([](const auto& m) { return m.plaquette_time; });
    means.polyakov_re = of([](const auto& m) { return m.polyakov_re; });
    means.polyakov_im = of([](const auto& m) { return m.polyakov_im; });
    means.polyakov = of([](const auto& m) { return m.polyakov(); });
    const auto size = column(rows, [](const auto& m) { return m.polyakov(); });
    auto square = size;
    for (auto& value : square) value *= value;
    // Bins of many autocorrelation times are nearly independent; the error estimate needs at least ten of them.
    const double tau = means.polyakov.tau / static_cast<double>(measure_every);
    const auto rows_of_bin = std::isfinite(tau) ? static_cast<index_t>(std::ceil(10 * tau)) : 1;
    const index_t bin = std::clamp<index_t>(rows_of_bin, 1, std::max<index_t>(1, std::ssize(rows) / 10));
    const auto volume = static_cast<double>(extents[0]) * extents[1] * extents[2];
    means.susceptibility =
        lattice::jackknife({square, size}, bin, [&](const auto& mean) { return volume * (mean[0] - mean[1] * mean[1]); });
    return means;
}

}  // namespace kasane::run
