#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/gravity/galaxy/cautions.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/model/sampling.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace kasane::run {

namespace {

using kasane::part_of;  // of progress, which run::part_of of records would hide

constexpr index_t block = 1 << 16;               // particles: 4 MiB
constexpr std::uint64_t rows_at_once = 1 << 20;  // particles of a snapshot that is read in parts: 65 MiB

void warn_of_other_units(const gravity::Units& stated, const gravity::Units& units, const std::filesystem::path& file) {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b); };
    if (near(stated.length_cm, units.length_cm) && near(stated.mass_g, units.mass_g) && near(stated.velocity_cm_s, units.velocity_cm_s))
        return;
    log::warning("{} states {} units, and this run has {} units: its numbers are used unchanged", file.string(), stated.name, units.name);
}

gravity::Snapshot read(const Source& source, const gravity::Units& units) {
    try {
        auto snapshot = gravity::read_snapshot(*source.file());
        warn_of_other_units(snapshot.units, units, *source.file());
        return snapshot;
    } catch (const InputError& error) {
        throw InputError(at_key(error).what(), source.where);
    }
}

gravity::Particles read_part(const Source& source, const gravity::SnapshotReader& reader, index_t first, index_t n) {
    try {
        return reader.read(first, n);
    } catch (const InputError& error) {
        throw InputError(at_key(error).what(), source.where);
    }
}

std::unique_ptr<const gravity::SnapshotReader> open_reader(const Source& source, const gravity::Units& units, bool warns) {
    try {
        auto reader = std::make_unique<const gravity::SnapshotReader>(*source.file());
        if (warns) warn_of_other_units(reader->summary().units, units, *source.file());
        return reader;
    } catch (const InputError& error) {
        throw InputError(at_key(error).what(), source.where);
    }
}

std::string word(gravity::Ball::Motion motion) { return motion == gravity::Ball::Motion::uniform ? "uniform" : "cold"; }

}  // namespace

Sampling::Sampling(const Initial& initial, const gravity::Units& units, const AnySpace& on, Reading reading)
    : Sampling(initial, units, on, std::vector<gravity::Placement>{}) {
    open(reading, true);
    for (std::size_t i = 0; i < initial.sources.size(); ++i) placements_.push_back(placement(i));
}

Sampling::Sampling(const Initial& initial, const gravity::Units& units, const AnySpace& on, std::vector<gravity::Placement> placements)
    : initial_(&initial),
      units_(units),
      space_(on),
      on_(std::holds_alternative<Cpu>(on) ? std::get<Cpu>(on) : Cpu{}),
      snapshots_(initial.sources.size()),
      readers_(initial.sources.size()),
      file_mass_(initial.sources.size()),
      galaxies_(initial.sources.size()),
      warnings_(initial.sources.size()),
      placements_(std::move(placements)) {
    outline_.units = units;
    outline_.time = initial.time;
    one_mass_.fill(true);
    if (!placements_.empty()) open(Reading::in_parts, false);
}

void Sampling::open(Reading reading, bool masses) {
    for (std::size_t i = 0; i < initial_->sources.size(); ++i) {
        const auto& source = initial_->sources[i];
        if (source.file() && reading == Reading::whole) {
            snapshots_[i] = read(source, units_);
            const auto& mass = snapshots_[i].particles.mass;
            file_mass_[i] = std::accumulate(mass.begin(), mass.end(), 0.0);
        } else if (source.file()) {
            readers_[i] = open_reader(source, units_, masses);
            snapshots_[i] = readers_[i]->outline();
        }
        describe(i, masses);
    }
    for (std::size_t t = 0; t < gravity::type_count; ++t)
        if (!one_mass_[t]) outline_.mass[t] = 0;
}

std::string Sampling::prefix(std::size_t i) const {
    const auto& name = initial_->sources[i].name;
    return initial_->sources.size() == 1 ? "" : (name.empty() ? std::to_string(i + 1) : name) + "/";
}

void Sampling::count_particles(std::uint8_t type, std::uint64_t n, double mass) {
    if (outline_.count[type] > 0 && outline_.mass[type] != mass) one_mass_[type] = false;
    if (mass == 0) one_mass_[type] = false;
    outline_.mass[type] = mass;
    outline_.count[type] += n;
}

void Sampling::add_component(const std::string& name, const std::string& law, index_t count, std::uint8_t type, double mass,
                             std::uint64_t seed, double softening) {
    const auto n = static_cast<std::uint64_t>(count);
    outline_.components.push_back({name, law, next_id_, n, type, mass, seed, softening});
    next_id_ += n;
}

void Sampling::describe(std::size_t i, bool masses) {
    const auto& source = initial_->sources[i];
    if (const auto* galaxy = source.galaxy()) {
        const auto counts = counts_of(*galaxy);
        for (std::size_t k = 0; k < counts.size(); ++k) {
            const auto& c = galaxy->components[k];
            add_component(prefix(i) + c.label(), gravity::name(c.law), counts[k], c.type, c.mass, galaxy->seed, c.softening);
            count_particles(c.type, static_cast<std::uint64_t>(counts[k]), c.mass / static_cast<double>(counts[k]));
            if (c.softening > 0) outline_.softening[c.type] = c.softening;
        }
    } else if (const auto* ball = source.ball()) {
        const auto law = source.point ? "point" : word(ball->motion);
        add_component(prefix(i) + law, law, ball->count, ball->type, ball->mass, ball->seed, 0);
        count_particles(ball->type, static_cast<std::uint64_t>(ball->count), ball->mass / static_cast<double>(ball->count));
    } else {
        describe_file(i, masses);
    }
}

void Sampling::describe_file(std::size_t i, bool masses) {
    const auto& s = snapshots_[i];
    const auto* reader = readers_[i].get();
    gravity::SnapshotReader::Counts count{};
    if (reader)
        count = reader->summary().count;
    else
        for (const auto type : s.particles.type) ++count[type];
    // A snapshot that is read in parts and taken as it is needs no masses here.
    const bool wanted = masses && !(reader && initial_->as_is);
    std::uint64_t before = 0;
    for (std::uint8_t type = 0; type < gravity::type_count; ++type) {  // a snapshot is read in ascending types
        const auto n = count[type];
        if (n == 0) continue;
        double first = 0, sum = 0;
        bool equal = wanted, begun = false;
        const auto add = [&](const double* mass, std::uint64_t number) {
            if (!std::exchange(begun, true)) first = mass[0];
            for (std::uint64_t k = 0; k < number; ++k) {
                equal = equal && mass[k] == first;
                sum += mass[k];
                if (reader) file_mass_[i] += mass[k];
            }
        };
        if (wanted && !reader) add(s.particles.mass.data() + before, n);
        for (std::uint64_t at = 0; wanted && reader && at < n; at += rows_at_once) {
            gravity::SnapshotReader::Counts skip{}, part{};
            skip[type] = at, part[type] = std::min(rows_at_once, n - at);
            gravity::Snapshot rows;
            reader->read(skip, part, rows, {.position = false, .velocity = false, .id = false});
            add(rows.particles.mass.data(), part[type]);
        }
        count_particles(type, n, equal ? first : 0);
        if (s.softening[type] > 0) outline_.softening[type] = s.softening[type];
        if (!initial_->as_is)
            add_component(prefix(i) + fmt::format("type {}", type), "snapshot", static_cast<index_t>(n), type, sum, 0, s.softening[type]);
        before += n;
    }
    if (initial_->as_is) outline_.components = s.components;
}

gravity::Placement Sampling::placement(std::size_t i) const {
    const auto& source = initial_->sources[i];
    auto placed = source.placement;
    if (!initial_->orbit) return placed;
    const auto mass = [&](std::size_t k) {
        const auto& s = initial_->sources[k];
        if (const auto* ball = s.ball()) return ball->mass;
        if (s.file()) return file_mass_[k];
        double sum = 0;
        for (const auto& c : s.galaxy()->components) sum += c.mass;
        return sum;
    };
    try {
        const auto bodies = gravity::place_on_orbit(mass(0), mass(1), *initial_->orbit, units_.G);
        placed.position = bodies.position[i];
        placed.velocity = bodies.velocity[i];
        if (source.tilt)
            placed.spin = gravity::spin_on_orbit(*initial_->orbit, static_cast<int>(i), source.tilt->inclination, source.tilt->argument);
    } catch (const InputError& error) {
        throw InputError(at_key(error).what(), initial_->orbit_where);
    }
    return placed;
}

std::uint64_t Sampling::memory_bytes() const {
    constexpr std::uint64_t rest = 64 << 20;  // tables of the galaxies, blocks, the program
    return outline_.bytes() + rest;
}

void Sampling::check_memory(const std::optional<Where>& asked) const {
    constexpr double GiB = 1u << 30;
    const auto needed = memory_bytes(), there = available_memory(Cpu{});
    const auto& sources = initial_->sources;
    const auto largest = std::max_element(sources.begin(), sources.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
    KS_VALIDATE(needed <= there,
                fmt::format("asks for too much: {} particles need {:.3g} GiB of memory, and {:.3g} GiB are free. Take fewer particles",
                            initial_->count(), static_cast<double>(needed) / GiB, static_cast<double>(there) / GiB),
                asked.value_or(largest->where));
}

void Sampling::build(const ProgressFunction& progress) {
    const auto& sources = initial_->sources;
    const auto n = static_cast<double>(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (!sources[i].galaxy()) continue;
        try {
            galaxies_[i] = std::make_unique<gravity::Galaxy>(*sources[i].galaxy(), on_,
                                                             part_of(progress, static_cast<double>(i) / n, static_cast<double>(i + 1) / n));
        } catch (const InputError& error) {
            throw InputError(sources[i].places.placed(error.problems()));
        }
        warn(i);
    }
}

void Sampling::warn(std::size_t i) {
    const auto& source = initial_->sources[i];
    const bool several = initial_->sources.size() > 1;
    const auto galaxy = !source.name.empty() ? fmt::format("galaxy \"{}\", ", source.name)
                        : several            ? fmt::format("galaxy {}, ", i + 1)
                                             : "";
    for (auto& caution : source.places.placed(gravity::cautions(*galaxies_[i], units_.length_name))) {
        caution.message = galaxy + caution.message;
        warnings_[i].push_back(caution.text());
        log::warning("{}", warnings_[i].back());
    }
}

void Sampling::draw(const std::function<void(const gravity::Particles&)>& sink, const ProgressFunction& progress) {
    const auto& sources = initial_->sources;
    const auto all = static_cast<double>(initial_->count());
    std::uint64_t next_id = 1;
    double before = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const double after = before + static_cast<double>(sources[i].count) / all;
        const auto hand_over = [&](gravity::Particles& particles) {
            arrange(particles, i, next_id);
            sink(particles);
        };
        const auto in_blocks = [&](const auto& sampler, const ProgressFunction& report) {
            gravity::Particles particles;
            for (index_t first = 0; first < sampler.size(); first += block) {
                sampler.fill(particles, first, std::min(block, sampler.size() - first));
                hand_over(particles);
                if (report) report(static_cast<double>(first + particles.size()) / static_cast<double>(sampler.size()), "particles");
            }
        };
        if (sources[i].galaxy()) {
            // Half of the time is for the constructor of the sampler, which goes through all particles once to find their centre of mass.
            const double half = (before + after) / 2;
            const gravity::Sampler sampler(*galaxies_[i], on_, part_of(progress, before, half));
            in_blocks(sampler, part_of(progress, half, after));
        } else if (const auto* ball = sources[i].ball()) {
            const double half = (before + after) / 2;  // as for a galaxy
            in_blocks(gravity::BallSampler(*ball, on_, part_of(progress, before, half)), part_of(progress, half, after));
        } else {
            hand_over(snapshots_[i].particles);
            snapshots_[i] = {};
        }
        if (progress) progress(after, "particles");
        before = after;
    }
}

gravity::Particles Sampling::draw_all(const ProgressFunction& progress) {
    const auto& sources = initial_->sources;
    gravity::Particles all;
    if (sources.size() > 1) all.reserve(initial_->count());
    std::uint64_t next_id = 1;
    double before = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const double after = before + static_cast<double>(sources[i].count) / static_cast<double>(initial_->count());
        const auto report = part_of(progress, before, after);
        gravity::Particles own;
        if (sources[i].galaxy())
            own = gravity::sample(*galaxies_[i], space_, report);
        else if (const auto* ball = sources[i].ball())
            gravity::BallSampler(*ball, on_, report).fill(own, 0, ball->count);
        else
            own = std::move(snapshots_[i].particles);
        arrange(own, i, next_id);
        if (sources.size() == 1) return own;
        all.append(own);
        before = after;
    }
    return all;
}

void Sampling::check_files() const {
    for (std::size_t i = 0; i < readers_.size(); ++i) {
        if (!readers_[i]) continue;
        const auto n = static_cast<index_t>(readers_[i]->summary().total());
        constexpr auto part = static_cast<index_t>(rows_at_once);
        for (index_t first = 0; first < n; first += part) read_part(initial_->sources[i], *readers_[i], first, std::min(part, n - first));
    }
}

gravity::Particles Sampling::draw_part(index_t first, index_t n, const gravity::AddOverProcesses& add, const ProgressFunction& progress) {
    const auto& sources = initial_->sources;
    const index_t end = first + n;
    gravity::Particles all;
    index_t begin = 0;  // first particle of the source
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto of_all = [&](index_t particles) { return static_cast<double>(particles) / static_cast<double>(initial_->count()); };
        const auto report = part_of(progress, of_all(begin), of_all(begin + sources[i].count));
        const index_t from = std::clamp<index_t>(first - begin, 0, sources[i].count),
                      to = std::clamp<index_t>(end - begin, 0, sources[i].count);
        gravity::Particles own;
        if (sources[i].galaxy())
            own = gravity::sample(*galaxies_[i], space_, from, to - from, add, report);
        else if (const auto* ball = sources[i].ball())
            own = gravity::sample(*ball, on_, from, to - from, add, report);
        else if (sources[i].file() && from < to)
            own = read_part(sources[i], *readers_[i], from, to - from);
        auto id = static_cast<std::uint64_t>(begin + from) + 1;
        arrange(own, i, id);
        begin += sources[i].count;
        if (sources.size() == 1) return own;
        all.append(own);
    }
    return all;
}

void Sampling::arrange(gravity::Particles& particles, std::size_t i, std::uint64_t& next_id) const {
    if (initial_->as_is) return;
    gravity::place(particles, placements_[i], on_);
    parallel_for(on_, particles.size(),
                 [&, first = next_id](index_t k) { particles.id[static_cast<std::size_t>(k)] = first + static_cast<std::uint64_t>(k); });
    next_id += static_cast<std::uint64_t>(particles.size());
}

Sampled load(const Initial& initial, const gravity::Units& units, const AnySpace& on, const ProgressFunction& progress) {
    Sampling sampling(initial, units, on);
    sampling.build(part_of(progress, 0, 0.5));
    Sampled sampled{sampling.draw_all(part_of(progress, 0.5, 1)), sampling.outline(), {}};
    for (std::size_t i = 0; i < initial.sources.size(); ++i)
        for (const auto& each : sampling.warnings(i)) sampled.warnings.push_back(each);
    return sampled;
}

}  // namespace kasane::run
