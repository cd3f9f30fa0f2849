#include <kasane/core/base/memory_error.hpp>
#include <kasane/core/device/holds_for_all.hpp>
#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/snapshot/hdf5_layout.hpp>
#include <kasane/gravity/snapshot/snapshot_file.hpp>
#include <kasane/gravity/snapshot/snapshot_reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace kasane::gravity {

namespace snapshot {

Units units_from_scales(double length_cm, double mass_g, double velocity_cm_s, double G) {
    const auto galactic = galactic_units();
    // Tolerance 1e-3, because kpc and 1e10 Msun of different programs differ in the fourth digit.
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-3 * b; };
    const bool scaleless = length_cm == velocity_cm_s && mass_g == velocity_cm_s && (velocity_cm_s == 0 || velocity_cm_s == 1);
    if (scaleless && G == 1) return nbody_units();
    Units units;
    if (near(length_cm, galactic.length_cm) && near(mass_g, galactic.mass_g) && near(velocity_cm_s, galactic.velocity_cm_s)) {
        units = galactic;
    } else if (std::isnormal(length_cm) && std::isnormal(mass_g) && std::isnormal(velocity_cm_s) && length_cm > 0 && mass_g > 0 &&
               velocity_cm_s > 0) {
        units = user_units(length_cm, mass_g, velocity_cm_s);
    } else {
        units.length_cm = length_cm, units.mass_g = mass_g, units.velocity_cm_s = velocity_cm_s;  // check_header() reports them
    }
    if (G != 0) units.G = G;
    return units;
}

void check_header(const std::filesystem::path& path, const Header& header) {
    std::vector<InputProblem> problems;
    const auto problem = [&](const char* where, std::string message) {
        problems.push_back({std::move(message), Where{path.string(), 0, 0, where}});
    };
    const auto usable = [](double value) { return std::isfinite(value) && value >= 0; };
    if (!std::isfinite(header.time)) problem("header", fmt::format("has time {}: it must be finite", header.time));
    if (header.redshift > 0) {
        problem("header", fmt::format("has redshift {}: the coordinates are comoving, and kasane integrates in physical ones. "
                                      "Convert the snapshot first",
                                      header.redshift));
    }
    for (std::size_t t = 0; t < type_count; ++t) {
        if (!usable(header.mass_table[t])) {
            problem("header", fmt::format("gives type {} the mass {}: it must be finite and not negative", t, header.mass_table[t]));
        }
        if (!usable(header.softening[t])) {
            problem("header", fmt::format("gives type {} the softening {}: it must be finite and not negative", t, header.softening[t]));
        }
    }
    const auto& u = header.units;
    const bool scaled = u.length_cm > 0 && u.mass_g > 0 && u.velocity_cm_s > 0;
    const bool scaleless = u.length_cm == 0 && u.mass_g == 0 && u.velocity_cm_s == 0;
    if (!usable(u.length_cm) || !usable(u.mass_g) || !usable(u.velocity_cm_s) || !usable(u.G) || !(scaled || scaleless)) {
        problem("units", fmt::format("are unusable: {} cm, {} g, {} cm/s, G = {}: each scale must be positive and finite", u.length_cm,
                                     u.mass_g, u.velocity_cm_s, u.G));
    }
    if (!problems.empty()) throw InputError(std::move(problems));
}

std::array<Members, type_count> members_of(const std::vector<std::uint8_t>& type, MemberLists& lists) {
    // All threads count, each in parts of the particles.
    struct Found {
        std::array<std::size_t, type_count> count{}, first{}, end{};
        bool unknown = false;
    };
    constexpr std::size_t of_part = 1 << 17;
    std::vector<Found> parts((type.size() + of_part - 1) / of_part);
    const auto for_each_particle = [&](std::size_t part, auto body) {
        for (std::size_t i = part * of_part, stop = std::min(i + of_part, type.size()); i < stop; ++i) body(i, type[i]);
    };
    const auto for_parts = [&](auto body) {
        for_each_part(thread_count(Cpu{}), std::ssize(parts), [&](index_t part) { body(static_cast<std::size_t>(part)); });
    };
    for_parts([&](std::size_t part) {
        Found found;
        for_each_particle(part, [&](std::size_t i, std::uint8_t t) {
            if (t >= type_count) {
                found.unknown = true;
                return;
            }
            if (found.count[t]++ == 0) found.first[t] = i;
            found.end[t] = i + 1;
        });
        parts[part] = found;
    });
    std::array<Members, type_count> members;
    std::array<std::size_t, type_count> end{};
    for (auto& part : parts) {
        if (part.unknown) throw std::out_of_range("a particle has an unknown type");
        for (std::size_t t = 0; t < type_count; ++t) {
            if (part.count[t] == 0) continue;
            if (members[t].count == 0) members[t].first = part.first[t];
            end[t] = part.end[t];
            part.first[t] = members[t].count;  // from now on the place of its particles in the list
            members[t].count += part.count[t];
        }
    }
    std::array<bool, type_count> listed{};
    for (std::size_t t = 0; t < type_count; ++t) {
        listed[t] = members[t].count != end[t] - members[t].first;
        lists[t].clear();
        if (!listed[t]) continue;
        resize_touched(lists[t], members[t].count);
        members[t].list = lists[t].data();
    }
    if (std::none_of(listed.begin(), listed.end(), [](bool any) { return any; })) return members;
    for_parts([&](std::size_t part) {
        auto next = parts[part].first;
        for_each_particle(part, [&](std::size_t i, std::uint8_t t) {
            if (listed[t]) lists[t][next[t]++] = i;
        });
    });
    return members;
}

std::filesystem::path numbered_path(const std::filesystem::path& path, int number) {
    return path.parent_path() / (path.stem().string() + "." + std::to_string(number) + path.extension().string());
}

}  // namespace snapshot

namespace {

using namespace snapshot;
namespace fs = std::filesystem;

constexpr std::uint64_t bytes_per_particle = 2 * sizeof(Vec3<double>) + sizeof(double) + sizeof(std::uint64_t) + sizeof(std::uint8_t);

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

/// Checks that the arrays have one length, that types are known, and that values are in the range of the stored precision.
void check_for_writing(const fs::path& path, const Snapshot& s, const Particles& p, const SnapshotWriteOptions& options) {
    const auto n = p.mass.size();
    KS_VALIDATE(n > 0, "cannot be written: there are no particles", Where{path.string(), 0, 0, {}});
    const bool agree = p.position.size() == n && p.velocity.size() == n && p.id.size() == n && p.type.size() == n &&
                       (s.acceleration.empty() || s.acceleration.size() == n) && (s.potential.empty() || s.potential.size() == n);
    if (!agree) throw bad(path, "", "cannot be written: the arrays of the particles differ in length");
    if (!holds_for_all(Cpu{}, p.size(), [&](index_t i) { return p.type[static_cast<std::size_t>(i)] < type_count; })) {
        throw bad(path, "", fmt::format("cannot be written: types are 0 to {}", type_count - 1));
    }
    if (options.files < 1) throw bad(path, "", fmt::format("cannot be written as {} files: at least one is needed", options.files));
    if (options.files > 1 && options.format != SnapshotFormat::hdf5) {
        throw bad(path, "", "cannot be written as several files: only HDF5 snapshots can. Choose HDF5, or one file");
    }
    if (options.compress && options.format != SnapshotFormat::hdf5) {
        throw bad(path, "", "cannot be written compressed: only HDF5 snapshots can. Choose HDF5, or no compression");
    }
    if (options.double_precision) return;
    const auto too_large = [](double value) { return std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max(); };
    const auto any_too_large = [&](const std::vector<Vec3<double>>& vectors) {
        return std::any_of(vectors.begin(), vectors.end(),
                           [&](const auto& v) { return too_large(v.x) || too_large(v.y) || too_large(v.z); });
    };
    if (any_too_large(p.position) || any_too_large(p.velocity) || any_too_large(s.acceleration) ||
        std::any_of(p.mass.begin(), p.mass.end(), too_large) || std::any_of(s.potential.begin(), s.potential.end(), too_large)) {
        throw bad(path, "", "cannot be written in single precision: a value is larger than 3.4e38. Choose double precision");
    }
}

/// The common mass of all particles of a type; 0 if masses differ or are 0, which MassTable cannot express.
double common_mass(const Particles& particles, const Members& members) {
    if (members.count == 0) return 0;
    const auto mass = particles.mass[members[0]];
    const bool common = holds_for_all(Cpu{}, static_cast<index_t>(members.count),
                                      [&](index_t k) { return particles.mass[members[static_cast<std::size_t>(k)]] == mass; });
    return common ? mass : 0;
}

}  // namespace

std::uint64_t SnapshotSummary::total() const { return sum(count); }
std::uint64_t SnapshotSummary::memory_bytes() const { return product(total(), bytes_per_particle); }

SnapshotSummary inspect_snapshot(const fs::path& path) { return SnapshotReader(path).summary(); }

Snapshot read_snapshot(const fs::path& path, const SnapshotReadOptions& options) {
    const SnapshotReader reader(path);
    const auto n = reader.summary().total();
    const auto needed = product(
        n, bytes_per_particle + (reader.has_acceleration() ? sizeof(Vec3<double>) : 0) + (reader.has_potential() ? sizeof(double) : 0));
    const auto available = available_memory(Cpu{});
    if (needed > available) throw MemoryError("has more particles than fit into memory", needed, available, {path.string(), 0, 0, {}});
    auto result = reader.outline();
    reader.read({}, reader.summary().count, result, {.velocity = options.velocities, .acceleration = true, .potential = true});
    return result;
}

void write_snapshot(const fs::path& path, const Snapshot& snapshot, const SnapshotWriteOptions& options) {
    write_snapshot(path, snapshot.particles, snapshot, options);
}

void write_snapshot(const fs::path& path, const Particles& particles, const Snapshot& rest, const SnapshotWriteOptions& options) {
    check_for_writing(path, rest, particles, options);
    auto columns = columns_of(particles);
    if (!rest.acceleration.empty()) columns.acceleration = rest.acceleration.data();
    if (!rest.potential.empty()) columns.potential = rest.potential.data();
    MemberLists lists;
    const auto members = members_of(particles.type, lists);

    Header header;
    header.time = rest.time;
    header.units = rest.units;
    header.softening = rest.softening;
    header.files = options.files;
    header.force_error = rest.force_error;
    header.components = rest.components;
    header.model = rest.model;
    for (std::size_t t = 0; t < type_count; ++t) {
        header.total[t] = members[t].count;
        header.mass_table[t] = common_mass(particles, members[t]);
    }
    check_header(path, header);

    const auto files = static_cast<std::uint64_t>(options.files);
    const std::uint64_t number = options.double_precision ? 8 : 4;
    const std::uint64_t per_particle =
        7 * number + 8 + (rest.acceleration.empty() ? 0 : 3 * number) + (rest.potential.empty() ? 0 : number);
    std::vector<AtomicFile> written;  // files are renamed after all are complete
    for (std::uint64_t i = 0; i < files; ++i) {
        Part part{&particles, {}, header, options};
        for (std::size_t t = 0; t < type_count; ++t) {
            const std::uint64_t n = members[t].count, begin = n * i / files, end = n * (i + 1) / files;
            part.members[t] = members[t].part(begin, end - begin);
            part.header.here[t] = end - begin;
            if (part.header.here[t] > UINT32_MAX) throw bad(path, "", "cannot be written: above 2^32 particles of a type. Use more files");
        }
        const auto target = files == 1 ? path : numbered_path(path, static_cast<int>(i));
        auto& file = written.emplace_back(target, per_particle * sum(part.header.here));
        if (options.format == SnapshotFormat::hdf5) {
            Hdf5Writer writer(file, part.header, options, columns);
            for (std::size_t t = 0; t < type_count; ++t) {
                writer.append(t, columns, part.members[t]);
            }
            writer.close();
        } else {
            write_binary(file, part);
        }
    }
    for (auto& file : written) file.commit();
}

}  // namespace kasane::gravity
