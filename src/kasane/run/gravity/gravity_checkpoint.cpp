#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>

#include <type_traits>

namespace kasane::run {
namespace {

// Of the file: what a number above it means, this version does not know. 1: without /State; 2: without the frame of direct summation;
// 3: with numbers of the tree's walk that no run applies.
constexpr std::uint32_t layout = 4;

/// Numbers of layouts 2 and 3 that enter nothing but the checksum.
struct Unused {
    std::uint8_t async_copy = 1, warp_reduce = 1;
    double l2_persist_mib = 0;
};

/// What the state holds in single numbers, by name: one list for writing, reading and the checksum.
template <class State, class UnusedNumbers, class Visit>
void for_each_number(std::uint32_t of_layout, State& state, UnusedNumbers&& unused, Visit visit) {
    visit("StepLength", state.step_length);
    visit("RebuildInterval", state.tuning.rebuild_interval);
    auto& walk = state.tuning.walk;
    visit("Group", walk.group);
    visit("GroupExtent", walk.group_extent);
    visit("Lanes", walk.lanes);
    visit("List", walk.list);
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

std::uint64_t checksum(const GravityCheckpoint& c, std::uint32_t of_layout, const Unused& unused) {
    io::Checksum sum;
    const auto text = [&](const std::string& s) {
        const auto size = static_cast<std::uint64_t>(s.size());  // so that text cannot move from one field to the next unseen
        sum.add(&size, sizeof size);
        sum.add(s.data(), s.size());
    };
    sum.add(c.particles.position);
    sum.add(c.particles.velocity);
    sum.add(c.particles.mass);
    sum.add(c.particles.id);
    sum.add(c.particles.type);
    sum.add(&c.step, sizeof c.step);
    for (const double value : {c.start, c.dt, c.units.length_cm, c.units.mass_g, c.units.velocity_cm_s, c.units.G})
        sum.add(&value, sizeof value);
    for (const auto* name :
         {&c.units.name, &c.units.length_name, &c.units.mass_name, &c.units.velocity_name, &c.units.time_name, &c.record})
        text(*name);
    if (of_layout < 2) return sum.value();
    const std::uint64_t sizes[] = {c.state.order.size(), c.state.acceleration.size()};
    sum.add(sizes, sizeof sizes);
    sum.add(c.state.order);
    sum.add(c.state.acceleration);
    for_each_number(of_layout, c.state, unused, [&](const char*, const auto& value) { sum.add(&value, sizeof value); });
    return sum.value();
}

}  // namespace

void write_gravity_checkpoint(const std::filesystem::path& path, const GravityCheckpoint& c) {
    const auto n = static_cast<std::uint64_t>(c.particles.size());
    const auto state = c.state.order.size() * sizeof(std::uint32_t) + c.state.acceleration.size() * sizeof(Vec3<float>);
    AtomicFile target(path, n * 65 + state + c.record.size() + 16384);  // 65 bytes a particle, and HDF5's own
    auto file = hdf5::File::create(target.temporary());
    file.create_group("/Checkpoint");
    file.set_attribute("/Checkpoint", "Layout", layout);
    file.set_attribute("/Checkpoint", "Step", c.step);
    file.set_attribute("/Checkpoint", "StartTime", c.start);
    file.set_attribute("/Checkpoint", "TimeStep", c.dt);
    file.set_attribute("/Checkpoint", "Checksum", checksum(c, layout, {}));
    file.create_group("/Units");
    file.set_attribute("/Units", "Name", c.units.name);
    file.set_attribute("/Units", "UnitLength_in_cm", c.units.length_cm);
    file.set_attribute("/Units", "UnitMass_in_g", c.units.mass_g);
    file.set_attribute("/Units", "UnitVelocity_in_cm_per_s", c.units.velocity_cm_s);
    file.set_attribute("/Units", "G", c.units.G);
    file.set_attribute("/Units", "LengthName", c.units.length_name);
    file.set_attribute("/Units", "MassName", c.units.mass_name);
    file.set_attribute("/Units", "VelocityName", c.units.velocity_name);
    file.set_attribute("/Units", "TimeName", c.units.time_name);
    file.write("/Particles/Position", c.particles.position);
    file.write("/Particles/Velocity", c.particles.velocity);
    file.write("/Particles/Mass", c.particles.mass);
    file.write("/Particles/Id", c.particles.id);
    file.write("/Particles/Type", c.particles.type);
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
    KS_VALIDATE(file.exists("/Checkpoint"), "is no checkpoint of kasane", {path.string(), 0, 0, ""});
    const auto found = file.attribute<std::uint32_t>("/Checkpoint", "Layout");
    KS_VALIDATE(found >= 1 && found <= layout,
                "was written by a newer version of kasane (layout " + std::to_string(found) + ", this one reads " + "up to " +
                    std::to_string(layout) + "): go on with that version",
                {path.string(), 0, 0, ""});
    GravityCheckpoint c;
    c.step = file.attribute<std::int64_t>("/Checkpoint", "Step");
    c.start = file.attribute<double>("/Checkpoint", "StartTime");
    c.dt = file.attribute<double>("/Checkpoint", "TimeStep");
    c.units.name = file.text_attribute("/Units", "Name");
    c.units.length_cm = file.attribute<double>("/Units", "UnitLength_in_cm");
    c.units.mass_g = file.attribute<double>("/Units", "UnitMass_in_g");
    c.units.velocity_cm_s = file.attribute<double>("/Units", "UnitVelocity_in_cm_per_s");
    c.units.G = file.attribute<double>("/Units", "G");
    c.units.length_name = file.text_attribute("/Units", "LengthName");
    c.units.mass_name = file.text_attribute("/Units", "MassName");
    c.units.velocity_name = file.text_attribute("/Units", "VelocityName");
    c.units.time_name = file.text_attribute("/Units", "TimeName");
    c.particles.position = file.read<Vec3<double>>("/Particles/Position");
    c.particles.velocity = file.read<Vec3<double>>("/Particles/Velocity");
    c.particles.mass = file.read<double>("/Particles/Mass");
    c.particles.id = file.read<std::uint64_t>("/Particles/Id");
    c.particles.type = file.read<std::uint8_t>("/Particles/Type");
    const auto record = file.read<std::uint8_t>("/Checkpoint/Record");
    c.record.assign(record.begin(), record.end());
    Unused unused;
    if (found >= 2) {
        for_each_number(found, c.state, unused,
                        [&](const char* name, auto& value) { value = file.attribute<std::decay_t<decltype(value)>>("/State", name); });
        if (file.exists("/State/Order")) c.state.order = file.read<std::uint32_t>("/State/Order");
        if (file.exists("/State/Acceleration")) c.state.acceleration = file.read<Vec3<float>>("/State/Acceleration");
    }
    KS_VALIDATE(checksum(c, found, unused) == file.attribute<std::uint64_t>("/Checkpoint", "Checksum"),
                "is damaged: its checksum does not fit its content", {path.string(), 0, 0, ""});
    gravity::validate(c.particles, path.string());
    return c;
}

}  // namespace kasane::run
