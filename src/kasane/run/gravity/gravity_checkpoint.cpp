#include <kasane/core/base/memory_error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/driver/run_directory.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>
#include <kasane/run/gravity/unit_fields.hpp>

#include <algorithm>
#include <array>
#include <type_traits>

namespace kasane::run {
namespace {

// Of the file; a larger number is one of a newer version. 1: without /State; 2: without the frame of direct summation; 3: with numbers of
// the tree's walk that no run applies; 4: with one choice for walks with many and with few targets; 5: without softenings of the particles;
// 6: always with the particles; 7: with a checksum of the bytes of the arrays, not of pieces.
constexpr std::uint32_t layout = 8;

constexpr const char* particles_file = "ParticlesFile";

/// Numbers of earlier layouts that only the checksum needs. The choice of layouts 2 to 4 was measured with many targets alone.
struct Unused {
    double group_extent = 0;
    int lanes = 0;
    std::uint8_t async_copy = 1, warp_reduce = 1;
    double l2_persist_mib = 0;
};

/// The single numbers of the state, by name: one list for writing, reading and the checksum.
template <class State, class UnusedNumbers, class Visit>
void for_each_number(std::uint32_t of_layout, State& state, UnusedNumbers&& unused, Visit visit) {
    visit("StepLength", state.step_length);
    visit("RebuildInterval", state.tuning.rebuild_interval);
    if (of_layout < 5) {
        visit("Group", state.tuning.many.walk.group);
        visit("GroupExtent", unused.group_extent);
        visit("Lanes", unused.lanes);
        visit("List", state.tuning.many.walk.list);
    } else {
        const auto visit_choice = [&](auto& choice, const std::array<const char*, 5>& names) {
            std::uint8_t decided = choice.decided ? 1 : 0;
            visit(names[0], decided);
            if constexpr (!std::is_const_v<State>) choice.decided = decided != 0;
            visit(names[1], choice.walk.vector);
            visit(names[2], choice.walk.group);
            visit(names[3], choice.walk.group_extent);
            visit(names[4], choice.walk.list);
        };
        visit_choice(state.tuning.many, {"ManyDecided", "ManyVector", "ManyGroup", "ManyGroupExtent", "ManyList"});
        visit_choice(state.tuning.few, {"FewDecided", "FewVector", "FewGroup", "FewGroupExtent", "FewList"});
    }
    if (of_layout < 4) {
        visit("AsyncCopy", unused.async_copy);
        visit("WarpReduce", unused.warp_reduce);
        visit("L2PersistMiB", unused.l2_persist_mib);
    }
    if (of_layout < 3) return;
    auto& frame = state.frame;
    visit("FrameX", frame.origin.x);
    visit("FrameY", frame.origin.y);
    visit("FrameZ", frame.origin.z);
    visit("FrameExtent", frame.extent);
    visit("FrameLargestMass", frame.largest_mass);
    visit("FrameTotal", frame.total);
}

std::uint64_t checksum(const GravityCheckpoint& c, const gravity::Particles& particles, std::uint32_t of_layout, const Unused& unused) {
    io::Checksum sum;
    const auto text = [&](const std::string& s) {
        const auto size = static_cast<std::uint64_t>(s.size());  // so that text that moves from one field to the next changes the sum
        sum.add(&size, sizeof size);
        sum.add(s.data(), s.size());
    };
    const auto array = [&](const auto& values) { of_layout >= 8 ? sum.add_in_pieces(values) : sum.add(values); };
    array(particles.position);
    array(particles.velocity);
    array(particles.mass);
    array(particles.id);
    array(particles.type);
    if (of_layout >= 6) {
        const auto softenings = static_cast<std::uint64_t>(particles.softening.size());
        sum.add(&softenings, sizeof softenings);
        array(particles.softening);
    }
    sum.add(&c.step, sizeof c.step);
    for (const double value : {c.start, c.dt, c.units.length_cm, c.units.mass_g, c.units.velocity_cm_s, c.units.G})
        sum.add(&value, sizeof value);
    for (const auto* name :
         {&c.units.name, &c.units.length_name, &c.units.mass_name, &c.units.velocity_name, &c.units.time_name, &c.record})
        text(*name);
    if (of_layout < 2) return sum.value();
    const std::uint64_t sizes[] = {c.state.order.size(), c.state.acceleration.size()};
    sum.add(sizes, sizeof sizes);
    array(c.state.order);
    array(c.state.acceleration);
    for_each_number(of_layout, c.state, unused, [&](const char*, const auto& value) { sum.add(&value, sizeof value); });
    return sum.value();
}

/// Links `to` to a snapshot, in place of an older file. @returns false: the snapshot is missing, or the file system has no hard links
bool link_particles(const std::filesystem::path& snapshot, const std::filesystem::path& to) {
    const auto temporary = to.parent_path() / ("." + to.filename().string() + ".tmp");
    std::error_code error, ignored;
    std::filesystem::remove(temporary, ignored);
    std::filesystem::create_hard_link(snapshot, temporary, error);
    if (error) return false;
    std::filesystem::rename(temporary, to, error);
    std::filesystem::remove(temporary, ignored);  // it is left where rename() fails, and where both are names of one file
    return !error;
}

/// Brings the particles of a snapshot, whose types ascend, into the order of a checkpoint. @param type  types of the particles of the
/// checkpoint   @returns false: the snapshot has other numbers of particles of the types
bool arrange(gravity::Particles& from, const std::vector<std::uint8_t>& type, gravity::Particles& to) {
    std::array<std::size_t, gravity::type_count + 1> next{};
    for (const auto t : type) {
        if (t >= gravity::type_count) return false;
        ++next[t + 1u];
    }
    for (std::size_t t = 0; t < gravity::type_count; ++t) next[t + 1] += next[t];
    const auto first = next;
    for (std::size_t i = 0; i < from.type.size(); ++i)
        if (from.type.size() != type.size() || i < first[from.type[i]] || i >= first[from.type[i] + 1u]) return false;
    if (std::is_sorted(type.begin(), type.end())) {
        to = std::move(from);
        return to.type == type;
    }
    to.resize(static_cast<index_t>(type.size()));
    for (std::size_t i = 0; i < type.size(); ++i) {
        const auto k = next[type[i]]++;
        to.position[i] = from.position[k];
        to.velocity[i] = from.velocity[k];
        to.mass[i] = from.mass[k];
        to.id[i] = from.id[k];
    }
    to.type = type;
    return true;
}

/// The particles of a checkpoint in a file of their own. @throws InputError
gravity::Particles linked_particles(const std::filesystem::path& path, const std::string& name, const std::vector<std::uint8_t>& type) {
    const Where here{path.string(), 0, 0, ""};
    const auto refuse = [&](const std::string& problem) {
        return InputError("has its particles in " + name + " beside it, which " + problem + ": put back the file of this run", here);
    };
    KS_VALIDATE(!name.empty() && name == std::filesystem::path(name).filename().string(),
                "is damaged: its attribute ParticlesFile is not the name of a file beside it", here);
    gravity::Particles particles;
    try {
        auto snapshot = gravity::read_snapshot(path.parent_path() / name);
        if (!arrange(snapshot.particles, type, particles)) throw refuse("is a snapshot of other particles");
    } catch (const MemoryError&) {
        throw;  // the file is intact
    } catch (const InputError& error) {
        if (error.problems().front().where.file == path.string()) throw;
        throw refuse(error.problems().front().message);
    }
    return particles;
}

}  // namespace

void write_gravity_checkpoint(const std::filesystem::path& path, const GravityCheckpoint& c, const std::filesystem::path& snapshot) {
    write_gravity_checkpoint(path, c.particles, c, snapshot);
}

void write_gravity_checkpoint(const std::filesystem::path& path, const gravity::Particles& particles, const GravityCheckpoint& c,
                              const std::filesystem::path& snapshot) {
    const auto beside = particles_beside(path);
    const bool linked = !snapshot.empty() && link_particles(snapshot, beside);
    const auto n = static_cast<std::uint64_t>(particles.size());
    const auto state = c.state.order.size() * sizeof(std::uint32_t) + c.state.acceleration.size() * sizeof(Vec3<float>);
    const auto softenings = particles.softening.size() * sizeof(double);
    AtomicFile target(path, n * (linked ? 1 : 65) + softenings + state + c.record.size() + 16384);  // bytes a particle, and HDF5's own
    auto file = hdf5::File::create(target.temporary());
    file.create_group("/Checkpoint");
    file.set_attribute("/Checkpoint", "Layout", layout);
    file.set_attribute("/Checkpoint", "Step", c.step);
    file.set_attribute("/Checkpoint", "StartTime", c.start);
    file.set_attribute("/Checkpoint", "TimeStep", c.dt);
    file.set_attribute("/Checkpoint", "Checksum", checksum(c, particles, layout, {}));
    file.create_group("/Units");
    for_each_unit_field(c.units, [&](const char*, const char* name, const auto& value) { file.set_attribute("/Units", name, value); });
    if (linked) {
        file.set_attribute("/Checkpoint", particles_file, beside.filename().string());
    } else {
        file.write("/Particles/Position", particles.position);
        file.write("/Particles/Velocity", particles.velocity);
        file.write("/Particles/Mass", particles.mass);
        file.write("/Particles/Id", particles.id);
    }
    file.write("/Particles/Type", particles.type);
    if (!particles.softening.empty()) file.write("/Particles/Softening", particles.softening);
    file.write("/Checkpoint/Record", std::vector<std::uint8_t>(c.record.begin(), c.record.end()));
    file.create_group("/State");
    for_each_number(layout, c.state, Unused{}, [&](const char* name, const auto& value) { file.set_attribute("/State", name, value); });
    if (!c.state.order.empty()) file.write("/State/Order", c.state.order);
    if (!c.state.acceleration.empty()) file.write("/State/Acceleration", c.state.acceleration);
    file.close();
    target.commit();
}

GravityCheckpoint read_gravity_checkpoint(const std::filesystem::path& path) {
    const auto file = hdf5::File::open(path);
    KS_VALIDATE(file.exists("/Checkpoint"), "is not a checkpoint of kasane", {path.string(), 0, 0, ""});
    const auto found = file.attribute<std::uint32_t>("/Checkpoint", "Layout");
    KS_VALIDATE(found >= 1 && found <= layout,
                "was written by a newer version of kasane (layout " + std::to_string(found) + ", this one reads " + "up to " +
                    std::to_string(layout) + "): use that version",
                {path.string(), 0, 0, ""});
    GravityCheckpoint c;
    c.step = file.attribute<std::int64_t>("/Checkpoint", "Step");
    c.start = file.attribute<double>("/Checkpoint", "StartTime");
    c.dt = file.attribute<double>("/Checkpoint", "TimeStep");
    for_each_unit_field(c.units, [&](const char*, const char* name, auto& value) {
        if constexpr (std::is_same_v<decltype(value), double&>)
            value = file.attribute<double>("/Units", name);
        else
            value = file.text_attribute("/Units", name);
    });
    auto type = file.read<std::uint8_t>("/Particles/Type");
    const bool linked = found >= 7 && file.has_attribute("/Checkpoint", particles_file);
    std::string damage = "is damaged";
    if (linked) {
        const auto name = file.text_attribute("/Checkpoint", particles_file);
        c.particles = linked_particles(path, name, type);
        damage += ", or " + name + " beside it was changed, which is the same file as a snapshot";
    } else {
        c.particles.position = file.read<Vec3<double>>("/Particles/Position");
        c.particles.velocity = file.read<Vec3<double>>("/Particles/Velocity");
        c.particles.mass = file.read<double>("/Particles/Mass");
        c.particles.id = file.read<std::uint64_t>("/Particles/Id");
        c.particles.type = std::move(type);
    }
    if (found >= 6 && file.exists("/Particles/Softening")) c.particles.softening = file.read<double>("/Particles/Softening");
    const auto record = file.read<std::uint8_t>("/Checkpoint/Record");
    c.record.assign(record.begin(), record.end());
    Unused unused;
    if (found >= 2) {
        for_each_number(found, c.state, unused,
                        [&](const char* name, auto& value) { value = file.attribute<std::decay_t<decltype(value)>>("/State", name); });
        auto& many = c.state.tuning.many;
        if (found < 5) many.decided = many.walk.group != 0 || many.walk.list != 0;
        if (file.exists("/State/Order")) c.state.order = file.read<std::uint32_t>("/State/Order");
        if (file.exists("/State/Acceleration")) c.state.acceleration = file.read<Vec3<float>>("/State/Acceleration");
    }
    KS_VALIDATE(checksum(c, c.particles, found, unused) == file.attribute<std::uint64_t>("/Checkpoint", "Checksum"),
                damage + ": its checksum does not fit its content", {path.string(), 0, 0, ""});
    gravity::validate(c.particles, path.string());
    return c;
}

}  // namespace kasane::run
