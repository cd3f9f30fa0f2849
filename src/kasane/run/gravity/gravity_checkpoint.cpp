#include <kasane/core/base/memory_error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/gravity/snapshot/snapshot_reader.hpp>
#include <kasane/run/driver/run_directory.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>
#include <kasane/run/gravity/unit_fields.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <type_traits>

namespace kasane::run {
namespace {

using gravity::Column;

// Of the file; a larger number is one of a newer version. 1: without /State; 2: without the frame of direct summation; 3: with numbers of
// the tree's walk that no run applies; 4: with one choice for walks with many and with few targets; 5: without softenings of the particles;
// 6: always with the particles; 7: with a checksum of the bytes of the arrays, not of pieces.
constexpr std::uint32_t layout = 8;

constexpr const char* particles_file = "ParticlesFile";
constexpr const char* different_lengths = "is damaged: its arrays have different lengths";

/// Numbers of earlier layouts that only the checksum needs. The choice of layouts 2 to 4 was measured with many targets alone.
struct Unused {
    double group_extent = 0;
    int lanes = 0;
    std::uint8_t async_copy = 1, warp_reduce = 1;
    double l2_persist_mib = 0;
};

/// The single numbers of the state, by name: one list for writing, reading and the checksum.
template <class State, class UnusedNumbers, class Visit>
void for_each_state_number(std::uint32_t of_layout, State& state, UnusedNumbers&& unused, Visit visit) {
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

/// Calls body(rows of T, their first number) for all values of a column, part by part.
template <class T, class Body>
void for_parts(ParticleRows& particles, Column column, Body body) {
    for (index_t first = 0; first < particles.size(); first += gravity::rows_at_once)
        body(particles.rows_of<T>(column, first, std::min(gravity::rows_at_once, particles.size() - first)), first);
}

/// Calls body(part) for the parts of an array that is in memory, or in a file if it is not.
using OrderParts = std::function<void(const std::function<void(View<const std::uint32_t>)>& body)>;

/// @param orders  numbers of state.order   @param order  their parts
std::uint64_t checksum(const GravityCheckpoint& c, ParticleRows& particles, std::uint32_t of_layout, const Unused& unused,
                       std::uint64_t orders, const OrderParts& order) {
    io::Checksum sum;
    const auto text = [&](const std::string& s) {
        const auto size = static_cast<std::uint64_t>(s.size());  // so that text that moves from one field to the next changes the sum
        sum.add(&size, sizeof size);
        sum.add(s.data(), s.size());
    };
    // The pieces of a part, which ends with a piece unless it is the last, are those of the whole array.
    const auto add = [&](auto values) {
        const auto bytes = static_cast<std::size_t>(values.n) * sizeof(*values.ptr);
        of_layout >= 8 ? sum.add_in_parts(values.ptr, bytes) : sum.add(values.ptr, bytes);
    };
    const auto column = [&]<class T>(T, Column which) { for_parts<T>(particles, which, [&](auto values, index_t) { add(values); }); };
    column(Vec3<double>{}, Column::position);
    column(Vec3<double>{}, Column::velocity);
    column(double{}, Column::mass);
    column(std::uint64_t{}, Column::id);
    column(std::uint8_t{}, Column::type);
    const auto n = static_cast<std::uint64_t>(particles.size());
    if (of_layout >= 6) {
        const auto softenings = particles.has(Column::softening) ? n : 0;
        sum.add(&softenings, sizeof softenings);
        if (softenings > 0) column(double{}, Column::softening);
    }
    sum.add(&c.step, sizeof c.step);
    for (const double value : {c.start, c.dt, c.units.length_cm, c.units.mass_g, c.units.velocity_cm_s, c.units.G})
        sum.add(&value, sizeof value);
    for (const auto* name :
         {&c.units.name, &c.units.length_name, &c.units.mass_name, &c.units.velocity_name, &c.units.time_name, &c.record})
        text(*name);
    if (of_layout < 2) return sum.value();
    const std::uint64_t sizes[] = {orders, particles.has(Column::acceleration) ? n : 0};
    sum.add(sizes, sizeof sizes);
    order(add);
    if (sizes[1] > 0) column(Vec3<float>{}, Column::acceleration);
    for_each_state_number(of_layout, c.state, unused, [&](const char*, const auto& value) { sum.add(&value, sizeof value); });
    return sum.value();
}

/// The parts of an array in memory.
OrderParts parts_of(const std::vector<std::uint32_t>& order) {
    return [&order](const auto& body) {
        for (index_t first = 0; first < std::ssize(order); first += gravity::rows_at_once)
            body({order.data() + first, std::min<index_t>(gravity::rows_at_once, std::ssize(order) - first)});
    };
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

/// Calls body(), which reads the file with the particles of a checkpoint. @throws InputError naming both files
template <class Body>
void name_the_snapshot(const std::filesystem::path& path, const std::string& name, Body body) {
    const Where here{path.string(), 0, 0, ""};
    KS_VALIDATE(!name.empty() && name == std::filesystem::path(name).filename().string(),
                "is damaged: its attribute ParticlesFile is not the name of a file beside it", here);
    try {
        body();
    } catch (const MemoryError&) {
        throw;  // the file is intact
    } catch (const InputError& error) {
        if (error.problems().front().where.file == path.string()) throw;
        throw InputError(
            "has its particles in " + name + " beside it, which " + error.problems().front().message + ": put back the file of this run",
            here);
    }
}

std::filesystem::path snapshot_beside(const std::filesystem::path& path, const std::string& name) { return path.parent_path() / name; }

/// The particles of a checkpoint in a file of their own. @throws InputError
gravity::Particles linked_particles(const std::filesystem::path& path, const std::string& name, const std::vector<std::uint8_t>& type) {
    gravity::Particles particles;
    name_the_snapshot(path, name, [&] {
        auto snapshot = gravity::read_snapshot(snapshot_beside(path, name));
        KS_VALIDATE(arrange(snapshot.particles, type, particles), "is a snapshot of other particles");
    });
    return particles;
}

}  // namespace

void write_gravity_checkpoint(const std::filesystem::path& path, const GravityCheckpoint& c, const std::filesystem::path& snapshot) {
    write_gravity_checkpoint(path, c.particles, c, snapshot);
}

void write_gravity_checkpoint(const std::filesystem::path& path, const gravity::Particles& particles, const GravityCheckpoint& c,
                              const std::filesystem::path& snapshot) {
    RowsInMemory rows(particles, c.state.acceleration);
    write_gravity_checkpoint(path, rows, c, snapshot);
}

void write_gravity_checkpoint(const std::filesystem::path& path, ParticleRows& particles, const GravityCheckpoint& c,
                              const std::filesystem::path& snapshot) {
    const auto beside = particles_beside(path);
    const bool linked = !snapshot.empty() && link_particles(snapshot, beside);
    const bool softenings = particles.has(Column::softening), accelerations = particles.has(Column::acceleration);
    const auto n = static_cast<std::uint64_t>(particles.size());
    const auto state = c.state.order.size() * sizeof(std::uint32_t) + (accelerations ? n * sizeof(Vec3<float>) : 0);
    AtomicFile target(path, n * ((linked ? 1 : 65) + (softenings ? sizeof(double) : 0)) + state + c.record.size() +
                                16384);  // bytes a particle, and HDF5's own
    auto file = hdf5::File::create(target.temporary());
    file.create_group("/Checkpoint");
    file.set_attribute("/Checkpoint", "Layout", layout);
    file.set_attribute("/Checkpoint", "Step", c.step);
    file.set_attribute("/Checkpoint", "StartTime", c.start);
    file.set_attribute("/Checkpoint", "TimeStep", c.dt);
    file.set_attribute("/Checkpoint", "Checksum", checksum(c, particles, layout, {}, c.state.order.size(), parts_of(c.state.order)));
    file.create_group("/Units");
    for_each_unit_field(c.units, [&](const char*, const char* name, const auto& value) { file.set_attribute("/Units", name, value); });
    const auto write = [&]<class T>(T, const char* name, Column column) {
        file.create_dataset<T>(name, particles.size());
        for_parts<T>(particles, column, [&](auto values, index_t first) { file.write_rows(name, first, values); });
    };
    if (linked) {
        file.set_attribute("/Checkpoint", particles_file, beside.filename().string());
    } else {
        write(Vec3<double>{}, "/Particles/Position", Column::position);
        write(Vec3<double>{}, "/Particles/Velocity", Column::velocity);
        write(double{}, "/Particles/Mass", Column::mass);
        write(std::uint64_t{}, "/Particles/Id", Column::id);
    }
    write(std::uint8_t{}, "/Particles/Type", Column::type);
    if (softenings) write(double{}, "/Particles/Softening", Column::softening);
    file.write("/Checkpoint/Record", std::vector<std::uint8_t>(c.record.begin(), c.record.end()));
    file.create_group("/State");
    for_each_state_number(layout, c.state, Unused{},
                          [&](const char* name, const auto& value) { file.set_attribute("/State", name, value); });
    if (!c.state.order.empty()) file.write("/State/Order", c.state.order);
    if (accelerations) write(Vec3<float>{}, "/State/Acceleration", Column::acceleration);
    file.close();
    target.commit();
}

namespace {

/// The particles in a checkpoint's file, or in the snapshot beside it.
class RowsInFile final : public ParticleRows {
   public:
    /// @throws InputError: columns of different lengths, or a snapshot of other particles
    RowsInFile(hdf5::File file, const std::filesystem::path& path, const std::string& linked) : file_(std::move(file)), path_(path) {
        size_ = rows_in("/Particles/Type");
        for (const auto column : {Column::softening, Column::acceleration}) {
            const auto* name = name_of(column);
            if (!file_.exists(name)) continue;
            present_.push_back(column);
            require(rows_in(name) == size_);
        }
        if (linked.empty()) {
            for (const auto column : {Column::position, Column::velocity, Column::mass, Column::id})
                require(rows_in(name_of(column)) == size_);
            return;
        }
        linked_ = linked;
        with_snapshot([&] {
            snapshot_.emplace(snapshot_beside(path_, linked));
            std::array<std::uint64_t, gravity::type_count> count{};
            for_parts<std::uint8_t>(*this, Column::type, [&](auto types, index_t) {
                for (const auto t : types) {
                    KS_VALIDATE(t < gravity::type_count, other_particles);
                    ++count[t];
                }
            });
            KS_VALIDATE(count == snapshot_->summary().count, other_particles);
        });
    }

    index_t size() const override { return size_; }
    bool has(Column column) const override {
        const bool optional = column == Column::softening || column == Column::acceleration;
        return !optional || std::find(present_.begin(), present_.end(), column) != present_.end();
    }
    const void* rows(Column column, index_t first, index_t n) override {
        switch (column) {
            case Column::position: return snapshot_ ? of_snapshot(column, first, n).position.data() : read(vectors_, column, first, n);
            case Column::velocity: return snapshot_ ? of_snapshot(column, first, n).velocity.data() : read(vectors_, column, first, n);
            case Column::mass: return snapshot_ ? of_snapshot(column, first, n).mass.data() : read(numbers_, column, first, n);
            case Column::id: return snapshot_ ? of_snapshot(column, first, n).id.data() : read(ids_, column, first, n);
            case Column::type: return read(types_, column, first, n);
            case Column::softening: return read(numbers_, column, first, n);
            default: return read(accelerations_, column, first, n);
        }
    }
    /// Calls body() for the parts of /State/Order.
    std::uint64_t orders() const { return file_.exists(order_name) ? rows_in(order_name) : 0; }
    OrderParts order() const {
        return [this, n = static_cast<index_t>(orders())](const auto& body) {
            std::vector<std::uint32_t> part;
            for (index_t first = 0; first < n; first += gravity::rows_at_once) {
                part.resize(static_cast<std::size_t>(std::min(gravity::rows_at_once, n - first)));
                file_.read_rows(order_name, first, view(part));
                body(View<const std::uint32_t>(view(part)));
            }
        };
    }

   private:
    static constexpr const char* order_name = "/State/Order";
    static constexpr const char* other_particles = "is a snapshot of other particles";

    static const char* name_of(Column column) {
        switch (column) {
            case Column::position: return "/Particles/Position";
            case Column::velocity: return "/Particles/Velocity";
            case Column::mass: return "/Particles/Mass";
            case Column::id: return "/Particles/Id";
            case Column::type: return "/Particles/Type";
            case Column::softening: return "/Particles/Softening";
            default: return "/State/Acceleration";
        }
    }
    index_t rows_in(const std::string& name) const { return static_cast<index_t>(file_.dataset(name).rows()); }
    void require(bool same_length) const { KS_VALIDATE(same_length, different_lengths, {path_.string(), 0, 0, ""}); }
    template <class T>
    const void* read(std::vector<T>& to, Column column, index_t first, index_t n) {
        to.resize(static_cast<std::size_t>(n));
        file_.read_rows(name_of(column), first, view(to));
        return to.data();
    }
    template <class Body>
    void with_snapshot(Body body) const {
        name_the_snapshot(path_, linked_, body);
    }

    /// A column of the snapshot, whose types ascend, in the order of the checkpoint. Parts that follow each other need no counts anew.
    const gravity::Particles& of_snapshot(Column column, index_t first, index_t n) {
        if (first < counted_) counted_ = 0, before_ = {};
        std::vector<std::uint8_t> type;
        while (counted_ < first) {
            const auto part = std::min(gravity::rows_at_once, first - counted_);
            read(type, Column::type, counted_, part);
            for (const auto t : type) ++before_.at(t);
            counted_ += part;
        }
        read(type, Column::type, first, n);
        gravity::SnapshotReader::Counts count{}, next{};
        for (const auto t : type) ++count.at(t);
        for (std::size_t t = 0; t + 1 < count.size(); ++t) next[t + 1] = next[t] + count[t];
        with_snapshot([&] {
            snapshot_->read(before_, count, part_,
                            {column == Column::position, column == Column::velocity, column == Column::mass, column == Column::id});
        });
        const auto arranged = [&](auto& from) {
            if (from.empty()) return;
            auto to = from;
            auto at = next;
            for (std::size_t i = 0; i < type.size(); ++i) to[i] = from[at[type[i]]++];
            from = std::move(to);
        };
        auto& particles = part_.particles;
        if (!std::is_sorted(type.begin(), type.end())) {
            arranged(particles.position);
            arranged(particles.velocity);
            arranged(particles.mass);
            arranged(particles.id);
        }
        for (std::size_t t = 0; t < count.size(); ++t) before_[t] += count[t];
        counted_ = first + n;
        return particles;
    }

    hdf5::File file_;
    std::filesystem::path path_;
    std::string linked_;
    std::optional<gravity::SnapshotReader> snapshot_;
    gravity::Snapshot part_;
    gravity::SnapshotReader::Counts before_{};  ///< particles of each type before the particle `counted_`
    index_t counted_ = 0, size_ = 0;
    std::vector<Column> present_;
    std::vector<Vec3<double>> vectors_;
    std::vector<double> numbers_;
    std::vector<std::uint64_t> ids_;
    std::vector<std::uint8_t> types_;
    std::vector<Vec3<float>> accelerations_;
};

/// Opens a checkpoint and reads all but its arrays. @param found  its layout
hdf5::File open_checkpoint(const std::filesystem::path& path, GravityCheckpoint& c, Unused& unused, std::uint32_t& found) {
    auto file = hdf5::File::open(path);
    KS_VALIDATE(file.exists("/Checkpoint"), "is not a checkpoint of kasane", {path.string(), 0, 0, ""});
    found = file.attribute<std::uint32_t>("/Checkpoint", "Layout");
    KS_VALIDATE(found >= 1 && found <= layout,
                "was written by a newer version of kasane (layout " + std::to_string(found) + ", this one reads " + "up to " +
                    std::to_string(layout) + "): use that version",
                {path.string(), 0, 0, ""});
    c.step = file.attribute<std::int64_t>("/Checkpoint", "Step");
    c.start = file.attribute<double>("/Checkpoint", "StartTime");
    c.dt = file.attribute<double>("/Checkpoint", "TimeStep");
    for_each_unit_field(c.units, [&](const char*, const char* name, auto& value) {
        if constexpr (std::is_same_v<decltype(value), double&>)
            value = file.attribute<double>("/Units", name);
        else
            value = file.text_attribute("/Units", name);
    });
    const auto record = file.read<std::uint8_t>("/Checkpoint/Record");
    c.record.assign(record.begin(), record.end());
    if (found >= 2) {
        for_each_state_number(found, c.state, unused, [&](const char* name, auto& value) {
            value = file.attribute<std::decay_t<decltype(value)>>("/State", name);
        });
        auto& many = c.state.tuning.many;
        if (found < 5) many.decided = many.walk.group != 0 || many.walk.list != 0;
    }
    return file;
}

/// The name of the file with the particles of a checkpoint; empty: they are in the checkpoint.
std::string linked_file(const hdf5::File& file, std::uint32_t found) {
    return found >= 7 && file.has_attribute("/Checkpoint", particles_file) ? file.text_attribute("/Checkpoint", particles_file)
                                                                           : std::string();
}

void check_sum(bool good, const std::filesystem::path& path, const std::string& linked) {
    const auto damage =
        "is damaged" + (linked.empty() ? "" : ", or " + linked + " beside it was changed, which is the same file as a snapshot");
    KS_VALIDATE(good, damage + ": its checksum does not fit its content", {path.string(), 0, 0, ""});
}

}  // namespace

GravityCheckpoint open_gravity_checkpoint(const std::filesystem::path& path) {
    GravityCheckpoint c;
    Unused unused;
    std::uint32_t found = 0;
    auto file = open_checkpoint(path, c, unused, found);
    const auto linked = linked_file(file, found);
    const auto stated = file.attribute<std::uint64_t>("/Checkpoint", "Checksum");
    auto rows = std::make_unique<RowsInFile>(std::move(file), path, linked);
    check_sum(checksum(c, *rows, found, unused, rows->orders(), rows->order()) == stated, path, linked);
    c.path = path;
    c.rows = std::move(rows);
    return c;
}

GravityCheckpoint read_gravity_checkpoint(const std::filesystem::path& path) {
    GravityCheckpoint c;
    Unused unused;
    std::uint32_t found = 0;
    const auto file = open_checkpoint(path, c, unused, found);
    auto type = file.read<std::uint8_t>("/Particles/Type");
    const auto linked = linked_file(file, found);
    if (!linked.empty()) {
        c.particles = linked_particles(path, linked, type);
    } else {
        c.particles.position = file.read<Vec3<double>>("/Particles/Position");
        c.particles.velocity = file.read<Vec3<double>>("/Particles/Velocity");
        c.particles.mass = file.read<double>("/Particles/Mass");
        c.particles.id = file.read<std::uint64_t>("/Particles/Id");
        c.particles.type = std::move(type);
    }
    if (found >= 6 && file.exists("/Particles/Softening")) c.particles.softening = file.read<double>("/Particles/Softening");
    if (found >= 2) {
        if (file.exists("/State/Order")) c.state.order = file.read<std::uint32_t>("/State/Order");
        if (file.exists("/State/Acceleration")) c.state.acceleration = file.read<Vec3<float>>("/State/Acceleration");
    }
    const auto& p = c.particles;
    const auto n = p.type.size();
    const bool same_length = p.position.size() == n && p.velocity.size() == n && p.mass.size() == n && p.id.size() == n &&
                             (p.softening.empty() || p.softening.size() == n) &&
                             (c.state.acceleration.empty() || c.state.acceleration.size() == n);
    KS_VALIDATE(same_length, different_lengths, {path.string(), 0, 0, ""});
    RowsInMemory rows(c.particles, c.state.acceleration);
    check_sum(checksum(c, rows, found, unused, c.state.order.size(), parts_of(c.state.order)) ==
                  file.attribute<std::uint64_t>("/Checkpoint", "Checksum"),
              path, linked);
    gravity::validate(c.particles, path.string());
    return c;
}

}  // namespace kasane::run
