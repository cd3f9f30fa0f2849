#include <kasane/lattice/file/eigenmode_file.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace kasane::lattice {
namespace {

std::string dataset_of(std::size_t mode) { return fmt::format("/vectors/{:04}", mode); }

/// |<a, b>| for all later a must vanish, and be 1 for a itself.
double distance_from_orthonormal(const std::vector<std::vector<std::complex<double>>>& vectors) {
    double worst = 0;
    for (std::size_t i = 0; i < vectors.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double re = i == j ? -1 : 0, im = 0;
            for (std::size_t k = 0; k < vectors[i].size(); ++k) {
                const auto product = std::conj(vectors[j][k]) * vectors[i][k];
                re += product.real(), im += product.imag();
            }
            worst = std::max(worst, std::isfinite(re + im) ? std::hypot(re, im) : HUGE_VAL);
        }
    return worst;
}

}  // namespace

void write_eigenmodes(const std::filesystem::path& path, const Eigenmodes& modes) {
    const std::size_t numbers = static_cast<std::size_t>(24 * modes.extents.half());
    AtomicFile target(path, modes.vectors.size() * (numbers * 8 + 65'536) + 65'536);
    auto file = hdf5::File::create(target.temporary());
    file.write("/values", modes.values, {.checksum = true});
    file.write("/residuals", modes.residuals, {.checksum = true});
    std::vector<double> flat;
    for (std::size_t i = 0; i < modes.vectors.size(); ++i) {
        flat.resize(2 * modes.vectors[i].size());
        for (std::size_t k = 0; k < modes.vectors[i].size(); ++k) {
            flat[2 * k] = modes.vectors[i][k].real();
            flat[2 * k + 1] = modes.vectors[i][k].imag();
        }
        file.write(dataset_of(i), flat, {.checksum = true});
    }
    const auto& n = modes.extents;
    file.set_attribute("/", "lattice", std::array{n[0], n[1], n[2], n[3]});
    file.set_attribute("/", "kappa", modes.parameters.kappa);
    file.set_attribute("/", "csw", modes.parameters.csw);
    file.set_attribute("/", "plaquette", modes.plaquette);
    file.set_attribute("/", "boundary", std::string(name(modes.parameters.boundary)));
    file.set_attribute("/", "commit", std::string(commit));
    file.close();
    target.commit();
}

Eigenmodes read_eigenmodes(const std::filesystem::path& path, int count) {
    const auto file = hdf5::File::open(path);
    const auto require = [&](bool good, const std::string& problem, const char* key) {
        KS_VALIDATE(good, problem, {path.string(), 0, 0, key});
    };
    require(file.exists("/values") && file.exists("/residuals") && file.exists("/vectors"),
            "has no /values, /residuals and /vectors: it is not a file of eigenmodes, which --modes writes", "");
    Eigenmodes modes;
    const auto n = file.attribute_array<int, 4>("/", "lattice");
    modes.extents = {{n[0], n[1], n[2], n[3]}};
    check_extents(modes.extents, {path.string(), 0, 0, ""});
    modes.parameters.kappa = file.attribute<double>("/", "kappa");
    modes.parameters.csw = file.attribute<double>("/", "csw");
    modes.plaquette = file.attribute<double>("/", "plaquette");
    const auto boundary = file.text_attribute("/", "boundary");
    require(boundary == name(Boundary::periodic) || boundary == name(Boundary::antiperiodic),
            "the boundary condition '" + boundary + "' is not known", "boundary");
    modes.parameters.boundary = boundary == name(Boundary::periodic) ? Boundary::periodic : Boundary::antiperiodic;
    modes.values = file.read<double>("/values");
    modes.residuals = file.read<double>("/residuals");
    const auto stored = modes.values.size();
    require(modes.residuals.size() == stored, fmt::format("{} values have {} residuals", stored, modes.residuals.size()), "/residuals");
    require(
        count >= 1 && static_cast<std::size_t>(count) <= stored,
        fmt::format("has {} modes, and {} are needed: ask for {} or fewer, or compute them anew into another file", stored, count, stored),
        "/values");
    modes.values.resize(static_cast<std::size_t>(count));
    modes.residuals.resize(static_cast<std::size_t>(count));
    double before = 0;
    for (const double value : modes.values) {
        require(std::isfinite(value) && value > 0 && value >= before, fmt::format("the value {} is not positive, or out of order", value),
                "/values");
        before = value;
    }
    const auto numbers = static_cast<std::size_t>(24 * modes.extents.half());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const auto key = dataset_of(i);
        const auto rows = file.dataset(key).rows();
        require(rows == numbers,
                fmt::format("{} has {} numbers; an even-odd field of a {} lattice has {}", key, rows, text(modes.extents), numbers),
                "/vectors");
        const auto flat = file.read<double>(key);
        auto& vector = modes.vectors.emplace_back(numbers / 2);
        for (std::size_t k = 0; k < vector.size(); ++k) vector[k] = {flat[2 * k], flat[2 * k + 1]};
    }
    require(distance_from_orthonormal(modes.vectors) < 1e-6, "the vectors are not orthonormal: the file is damaged", "/vectors");
    return modes;
}

}  // namespace kasane::lattice
