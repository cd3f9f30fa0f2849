#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/gravity/energy_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace kasane::run {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
    throw ComputationError(fmt::format("cannot write {}: {}{}", path.string(), std::strerror(error),
                                       error == ENOSPC || error == EDQUOT || error == EFBIG
                                           ? ". Free some space; `kasane resume` continues from the last checkpoint"
                                           : ""));
}

/// The second field of a row; -1 when there is none.
std::int64_t step_of(const std::string& line) {
    const auto comma = line.find(',');
    if (comma == std::string::npos) return -1;
    std::int64_t step = -1;
    const auto result = std::from_chars(line.data() + comma + 1, line.data() + line.size(), step);
    return result.ec == std::errc{} && result.ptr != line.data() + line.size() && *result.ptr == ',' ? step : -1;
}

}  // namespace

const std::string& EnergyTable::header() {
    static const std::string text =
        "time,step,kinetic,potential,energy,relative_energy_error,virial_ratio,momentum_x,momentum_y,momentum_z,angular_momentum_x,"
        "angular_momentum_y,angular_momentum_z,center_x,center_y,center_z,r10,r25,r50,r75,r90,"
        "force_error_median,force_error_p99,force_error_max,block_steps,updates,active_fraction";
    return text;
}

EnergyTable::EnergyTable(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail(path_, errno);
    struct stat status{};
    if (::fstat(descriptor_, &status) == 0 && status.st_size == 0) write(header() + "\n");
}

EnergyTable::~EnergyTable() { ::close(descriptor_); }

void EnergyTable::write(const std::string& text) {
    const char* at = text.data();
    for (auto left = text.size(); left > 0;) {
        const auto written = ::write(descriptor_, at, left);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(path_, errno);
        at += written;
        left -= static_cast<std::size_t>(written);
    }
}

void EnergyTable::add(const EnergyRow& r) {
    const auto& d = r.diagnostics;
    std::string row = fmt::format("{:.17g},{}", d.time, r.step);
    const auto put = [&](double value) { row += std::isnan(value) ? std::string(",nan") : fmt::format(",{:.17g}", value); };
    for (const double value : {d.kinetic, d.potential, d.energy, r.relative_energy_error, d.virial_ratio}) put(value);
    for (const auto& v : {d.momentum, d.angular_momentum, d.center_of_mass})
        for (const double value : {v.x, v.y, v.z}) put(value);
    for (const double radius : d.lagrangian_radius) put(radius);
    const bool measured = r.force_error.count > 0;
    for (const double error : {r.force_error.median, r.force_error.p99, r.force_error.max}) put(measured ? error : std::nan(""));
    row += fmt::format(",{}", r.block_steps);
    put(r.updates);
    put(r.active_fraction);
    write(row + "\n");
}

void EnergyTable::sync() {
    if (::fsync(descriptor_) != 0) fail(path_, errno);
}

void EnergyTable::keep_until(const std::filesystem::path& path, std::int64_t step) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return;
    std::string kept = header() + "\n";
    std::string line;
    std::getline(file, line);
    std::string missing;
    if (header().starts_with(line + ","))
        for (auto n = std::count(header().begin() + static_cast<std::ptrdiff_t>(line.size()), header().end(), ','); n > 0; --n)
            missing += ",nan";
    while (std::getline(file, line) && !file.eof())  // a last line without its end was cut off
        if (const auto row = step_of(line); row >= 0 && row <= step) kept += line + missing + "\n";
    file.close();
    write_atomically(path, kept);
}

}  // namespace kasane::run
