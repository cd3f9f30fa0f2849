#include <kasane/core/io/json_value.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/core/io/output_thread.hpp>
#include <kasane/gravity/distributed/agreement.hpp>
#include <kasane/run/driver/run_texts.hpp>
#include <kasane/run/gravity/gravity_slabs.hpp>
#include <kasane/run/gravity/unit_fields.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;
using gravity::Column;
using io::Json;

constexpr const char* from_ranks = "a message of the root rank";  // the source of a text, for errors

void broadcast(comm::Communicator& ranks, std::string& text) {
    std::uint64_t size = text.size();
    ranks.broadcast(&size, sizeof size, 0);
    text.resize(size);
    ranks.broadcast(text.data(), size, 0);
}

Json json_of(const Vec3<double>& v) { return {v.x, v.y, v.z}; }
Vec3<double> vector_of(const Json& j) { return {j.at(0), j.at(1), j.at(2)}; }

Json json_of(const gravity::SnapshotOutline& outline) {
    Json units, components = Json::array();
    for_each_unit_field(outline.units, [&](const char* key, const char*, const auto& value) { units[key] = value; });
    for (const auto& c : outline.components)
        components.push_back({c.name, c.law, c.first_id, c.count, c.type, c.mass, c.seed, c.softening});
    const auto& e = outline.force_error;
    return {{"time", outline.time},
            {"units", units},
            {"mass", outline.mass},
            {"softening", outline.softening},
            {"force_error", {e.count, e.median, e.p99, e.max}},
            {"components", components},
            {"model", outline.model}};
}

/// Without counts.
gravity::SnapshotOutline outline_of(const Json& j) {
    gravity::SnapshotOutline outline;
    outline.time = j.at("time");
    for_each_unit_field(outline.units, [&](const char* key, const char*, auto& value) { j.at("units").at(key).get_to(value); });
    j.at("mass").get_to(outline.mass);
    j.at("softening").get_to(outline.softening);
    const auto& e = j.at("force_error");
    outline.force_error = {e.at(0), e.at(1), e.at(2), e.at(3)};
    for (const auto& c : j.at("components"))
        outline.components.push_back({c.at(0), c.at(1), c.at(2), c.at(3), c.at(4), c.at(5), c.at(6), c.at(7)});
    outline.model = j.at("model");
    return outline;
}

/// A number that depends on the particles of all ranks, so that files of different sets are not mixed. Collective.
std::uint64_t set_number(const gravity::RankSlabs& slabs) {
    const auto& own = slabs.slab().own;
    io::Checksum mine, all;
    mine.add_in_parts(own.position);
    mine.add_in_parts(own.velocity);
    for (const auto& each : slabs.ranks().all_gather(std::to_string(mine.value()))) all.add(each.data(), each.size());
    return std::max<std::uint64_t>(all.value(), 1);
}

/// This rank's part of begin_snapshot_set() and of complete_snapshot_set(). A thread writes the file while the simulation continues: it
/// reads the slab, which no other call changes until the set is complete.
class SetWriting {
   public:
    /// A SlabTask.
    void operator()(const gravity::RankSlabs& slabs, const std::string& text) {
        if (text.empty())
            wait();
        else if (const Json order(io::parse_json(text, from_ranks)); order.contains("path"))
            begin(slabs, order);
        else
            complete(slabs);
    }

   private:
    /// Collective.
    void begin(const gravity::RankSlabs& slabs, const Json& order) {
        auto& ranks = slabs.ranks();
        const auto& own = slabs.slab().own;
        auto outline = outline_of(order.at("outline"));
        for (const auto t : own.type) ++outline.count[t];
        const gravity::SnapshotSetPlace place{ranks.rank(), ranks.size(), slabs.facts().count, set_number(slabs)};
        const gravity::SnapshotWriteOptions options{.compress = order.at("compress").get<bool>()};
        begun_ = true;
        thread_.add([this, &own, outline, place, options, path = fs::path(order.at("path").get<std::string>())] {
            problem_ = gravity::problem_of([&] {
                writer_.emplace(path, outline, place, options);
                writer_->append(own);
                writer_->complete();
            });
        });
    }
    /// Collective.
    void complete(const gravity::RankSlabs& slabs) {
        if (!begun_) return;
        begun_ = false;
        thread_.flush();
        auto writer = std::exchange(writer_, std::nullopt);
        gravity::agree_on_success(slabs.ranks(), std::exchange(problem_, {}));
        gravity::agree_on_success(slabs.ranks(), gravity::problem_of([&] { writer->commit(); }));
    }
    /// The file, which has no name yet, is lost.
    void wait() {
        thread_.flush();
        writer_.reset();
        begun_ = false;
    }

    std::optional<gravity::SnapshotWriter> writer_;
    std::string problem_;
    bool begun_ = false;
    io::OutputThread thread_;  // last: its job uses the others
};

gravity::SlabTask set_writing() {
    return
        [writing = std::make_shared<SetWriting>()](const gravity::RankSlabs& slabs, const std::string& text) { (*writing)(slabs, text); };
}

struct ModelParts {
    Initial initial;
    gravity::Units units;
    std::unique_ptr<Sampling> sampling;
};

/// The initial state of a run file, as the root rank has read and checked it.
void build(const Json& order, const AnySpace& space, ModelParts& to) {
    std::vector<io::Setting> settings;
    for (const auto& each : order.at("settings")) settings.push_back({each.at(0), each.at(1)});
    const fs::path path = order.at("path").get<std::string>();
    io::RunFileReader reader(path, settings, order.at("text").get<std::string>());
    auto root = reader.root();
    const auto directory = fs::absolute(path).parent_path();
    auto run = root.table("run");
    auto initial = root.table("initial");
    to.units = read_units(run, root, stated_units(initial, directory));
    to.initial = read_initial(root, initial, {to.units, directory, {}});
    reader.stop_if_bad();
    std::vector<gravity::Placement> placements;
    for (const auto& each : order.at("placements"))
        placements.push_back({vector_of(each.at(0)), vector_of(each.at(1)), vector_of(each.at(2))});
    to.sampling = std::make_unique<Sampling>(to.initial, to.units, space, std::move(placements));
    to.sampling->build();
}

std::vector<GroupSoftening> softenings_of(const Json& order) {
    std::vector<GroupSoftening> groups;
    for (const auto& each : order.at("softenings")) groups.push_back({"", each.at(0), each.at(1), each.at(2), each.at(3)});
    return groups;
}

/// Draws a rank's slab. Collective. An error of one rank alone ends the run, since the other ranks wait for its sums.
gravity::RankSlab draw(comm::Communicator& ranks, Sampling& sampling, const Json& order, const ProgressFunction& progress) {
    const auto bounds = order.at("bounds").get<std::vector<index_t>>();
    const auto rank = static_cast<std::size_t>(ranks.rank());
    gravity::RankSlab slab;
    slab.first = bounds[rank];
    try {
        const auto add = [&](View<double> values) { ranks.all_reduce(values, comm::Reduce::sum); };
        slab.own = sampling.draw_part(slab.first, bounds[rank + 1] - slab.first, add, progress);
        if (const auto groups = softenings_of(order); !groups.empty()) slab.own.softening = softenings(slab.own, groups);
    } catch (...) {
        int status = 1;
        const auto reason = comm::reason_of_current_exception(status);
        comm::end_run(ranks, comm::rank_text(ranks), reason, status);
    }
    return slab;
}

Json bounds_of(comm::WorkerCommunicator& communicator, const GravityFile& file, index_t total) {
    return gravity::rank_bounds(communicator, file.space, file.force, total);
}

std::vector<Column> columns_of(const Json& order) {
    std::vector<Column> columns;
    for (const auto& each : order.at("columns")) columns.push_back(static_cast<Column>(each.get<std::int64_t>()));
    return columns;
}

}  // namespace

std::shared_ptr<gravity::SlabParticles> sampled_slabs(comm::WorkerCommunicator& communicator, const GravityFile& file, Sampling& sampling,
                                                      const std::vector<GroupSoftening>& softenings,
                                                      const std::vector<io::Setting>& settings, const ProgressFunction& progress) {
    auto& ranks = communicator.ranks();
    Json order{{"from", "model"},
               {"path", fs::absolute(file.path).string()},
               {"text", content(file.path).value_or("")},
               {"settings", Json::array()},
               {"placements", Json::array()},
               {"softenings", Json::array()},
               {"bounds", bounds_of(communicator, file, file.initial.count())}};
    for (const auto& each : settings) order["settings"].push_back({each.text, each.source});
    for (const auto& each : sampling.placements())
        order["placements"].push_back({json_of(each.position), json_of(each.velocity), json_of(each.spin)});
    for (const auto& each : softenings) order["softenings"].push_back({each.first_id, each.count, each.type, each.softening});
    auto text = order.dump();
    broadcast(ranks, text);
    gravity::agree(ranks, "");
    return std::make_shared<gravity::SlabParticles>(communicator, file.here, draw(ranks, sampling, order, progress), set_writing());
}

std::shared_ptr<gravity::SlabParticles> restored_slabs(comm::WorkerCommunicator& communicator, const GravityFile& file, ParticleRows& rows,
                                                       bool accelerations) {
    auto& ranks = communicator.ranks();
    Json order{{"from", "checkpoint"}, {"columns", Json::array()}, {"bounds", bounds_of(communicator, file, rows.size())}};
    for (const auto column :
         {Column::position, Column::velocity, Column::mass, Column::id, Column::type, Column::softening, Column::acceleration})
        if (rows.has(column) && (column != Column::acceleration || accelerations))
            order["columns"].push_back(static_cast<std::int64_t>(column));
    auto text = order.dump();
    broadcast(ranks, text);
    gravity::RankSlab slab;
    try {
        slab = gravity::scatter(ranks, order.at("bounds"), columns_of(order),
                                [&](Column column, index_t first, index_t n) { return rows.rows(column, first, n); });
    } catch (...) {  // the other ranks wait for their particles
        int status = 1;
        const auto reason = comm::reason_of_current_exception(status);
        comm::end_run(ranks, comm::rank_text(ranks), reason, status);
    }
    return std::make_shared<gravity::SlabParticles>(communicator, file.here, std::move(slab), set_writing());
}

void slab_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    auto& ranks = communicator.ranks();
    std::string text;
    broadcast(ranks, text);
    const Json order(io::parse_json(text, from_ranks));
    gravity::RankSlab slab;
    if (order.at("from") == "checkpoint") {
        slab = gravity::scatter(ranks, order.at("bounds"), columns_of(order), {});
    } else {
        ModelParts model;
        try {
            gravity::agree(ranks, gravity::problem_of([&] { build(order, here.front(), model); }));
        } catch (const InputError&) {
            return;  // the root rank reports it
        }
        slab = draw(ranks, *model.sampling, order, {});
    }
    gravity::worker_loop(communicator, here, std::move(slab), set_writing());
}

void remove_other_files(const fs::path& snapshot, int files) {
    const auto first = snapshot.stem().string() + ".", end = snapshot.extension().string();
    std::vector<fs::path> old;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(snapshot.parent_path(), ignored)) {
        const auto name = entry.path().filename().string();
        if (!name.starts_with(first) || !name.ends_with(end) || name.size() <= first.size() + end.size()) continue;
        const auto number = name.substr(first.size(), name.size() - first.size() - end.size());
        const bool digits = number.size() < 9 && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
        if (digits && (files == 1 || std::stoi(number) >= files)) old.push_back(entry.path());
    }
    if (files > 1) old.push_back(snapshot);
    for (const auto& each : old) fs::remove(each, ignored);
}

gravity::SnapshotOutline whole_outline(const gravity::SlabParticles& slabs, gravity::SnapshotOutline outline) {
    outline.count = slabs.facts().count;
    for (std::size_t t = 0; t < gravity::type_count; ++t) outline.mass[t] = slabs.facts().common_mass(t);
    return outline;
}

void write_one_snapshot(const fs::path& path, ParticleRows& rows, const gravity::SnapshotOutline& outline, bool compress) {
    gravity::SnapshotWriter writer(path, outline, {.compress = compress});
    gravity::Particles part;
    for (index_t first = 0; first < rows.size(); first += gravity::rows_at_once) {
        const index_t n = std::min(gravity::rows_at_once, rows.size() - first);
        const auto take = [&]<class T>(Column column, std::vector<T>& to) {
            const auto from = rows.rows_of<T>(column, first, n);
            to.assign(from.begin(), from.end());
        };
        take(Column::position, part.position);
        take(Column::velocity, part.velocity);
        take(Column::mass, part.mass);
        take(Column::id, part.id);
        take(Column::type, part.type);
        writer.append(part);
    }
    writer.commit();
    remove_other_files(path, 1);
}

void begin_snapshot_set(const fs::path& path, const gravity::SlabParticles& slabs, gravity::SnapshotOutline outline, bool compress) {
    for (std::size_t t = 0; t < gravity::type_count; ++t) outline.mass[t] = slabs.facts().common_mass(t);
    slabs.run(Json{{"path", fs::absolute(path).string()}, {"compress", compress}, {"outline", json_of(outline)}}.dump());
}

void complete_snapshot_set(const fs::path& path, const gravity::SlabParticles& slabs) {
    slabs.run(Json{{"complete", true}}.dump());
    remove_other_files(path, slabs.slabs().ranks().size());
}

}  // namespace kasane::run
