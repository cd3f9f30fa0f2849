#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/device/staged_copy.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/gravity/galaxy/cautions.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/galaxy/particle_draw.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace kasane::gravity {
namespace {

/// The draw of the particles of component c by tables in a memory.
template <Space S>
ParticleDraw draw_of(const Galaxy& galaxy, std::size_t c, TableMemory<S>& memory) {
    ParticleDraw draw;
    draw.seed = galaxy.model().seed;
    draw.speed = std::sqrt(galaxy.model().G);
    if (is_disk(galaxy.model().components[c].law)) {
        const auto* disks = galaxy.disks();
        std::size_t disk = 0;
        while (disks->component(disk) != c) ++disk;
        draw.kind = ParticleDraw::Kind::disk;
        draw.disk = DiskDraw::of(*disks, disk, memory);
    } else if (const auto* sphere = galaxy.sphere(c)) {
        draw.kind = ParticleDraw::Kind::sphere;
        draw.sphere = {MassInverse::of(*sphere, memory), VelocityDraw::of(*galaxy.distribution(c), memory)};
    }
    return draw;
}

struct Sum {
    CompensatedSum<double> x, y, z;
    void add(const std::vector<Vec3<double>>& blocks) {
        for (const auto& v : blocks) x.add(v.x), y.add(v.y), z.add(v.z);
    }
    Vec3<double> mean(index_t n) const { return 1 / static_cast<double>(n) * Vec3<double>{x.value(), y.value(), z.value()}; }
};

struct Centre {
    Vec3<double> position, velocity;
};

/// Positions and velocities of successive particles, in the memory of a space.
struct Piece {
    View<Vec3<double>> position, velocity;
};

/// Draws the particles first, ..., end - 1 of a component in pieces, and finds their centre of mass. Sums are formed over blocks of a
/// component's particles and then over the blocks, in one order for any number of threads.
/// @param at_once  particles of a piece, a multiple of sum_block   @param memory  function of the first particle and the number of a piece
/// that returns the Piece   @param take  called with the first particle and the Piece when it is drawn
template <Space S, class Memory, class Take>
Centre draw_component(S on, const ParticleDraw& component, index_t first, index_t end, index_t at_once, Memory memory, Take take) {
    Buffer<Vec3<double>, S> sums(on, at_once / sum_block);
    std::vector<Vec3<double>> of_blocks;
    Sum position, velocity;
    for (index_t from = first; from < end; from += at_once) {
        const index_t n = std::min(at_once, end - from), blocks = (n + sum_block - 1) / sum_block;
        const Piece piece = memory(from, n);
        draw(on, component, from, piece.position, piece.velocity);
        of_blocks.resize(static_cast<std::size_t>(blocks));
        const auto add = [&](View<const Vec3<double>> values, Sum& to) {
            sum_blocks(on, values, sums.view().subview(0, blocks));
            copy_to_host(on, view(of_blocks), sums.view().subview(0, blocks));
            to.add(of_blocks);
        };
        add(piece.position, position);
        add(piece.velocity, velocity);
        take(from, piece);
    }
    return {position.mean(end - first), velocity.mean(end - first)};
}

/// Memory of a space that takes one piece after the other.
template <Space S>
struct PieceMemory {
    Buffer<Vec3<double>, S> position, velocity;
    PieceMemory(S on, index_t n) : position(on, n), velocity(on, n) {}
    Piece operator()(index_t, index_t n) { return {position.view().subview(0, n), velocity.view().subview(0, n)}; }
};

constexpr index_t many = 1024 * sum_block;  // particles: 192 MiB of a device
constexpr index_t few = 16 * sum_block;     // 3 MiB

/// Draws all particles of a component into `all`.
template <class Report>
Centre draw_into(Cpu on, const ParticleDraw& component, index_t first, index_t end, Particles& all, const Report& report) {
    const auto memory = [&](index_t from, index_t n) {
        return Piece{view(all.position).subview(from, n), view(all.velocity).subview(from, n)};
    };
    return draw_component(on, component, first, end, many / 4, memory, [&](index_t from, const Piece&) { report(from); });
}
#if defined(KASANE_CUDA)
template <class Report>
Centre draw_into(Cuda on, const ParticleDraw& component, index_t first, index_t end, Particles& all, const Report& report) {
    PieceMemory<Cuda> memory(on, std::min(many, end - first));
    const auto fetch = [&](const View<Vec3<double>>& from, Vec3<double>* to) {
        const auto source = [&](index_t k, index_t) -> const Vec3<double>* { return from.ptr + k; };
        staged_to_host<Vec3<double>>(on, from.n, source, [&](index_t k, const Vec3<double>& value) { to[k] = value; });
    };
    return draw_component(on, component, first, end, many, std::ref(memory), [&](index_t from, const Piece& piece) {
        report(from);
        fetch(piece.position, all.position.data() + from);
        fetch(piece.velocity, all.velocity.data() + from);
    });
}
#endif

/// The part of a component that one of several processes draws: the particles first, ..., end - 1, with the sums of the blocks that begin
/// among them.
struct SharedPart {
    index_t component_first, component_end;  ///< of the whole component
    index_t first, end;
    index_t block_of(index_t particle) const { return (particle - component_first + sum_block - 1) / sum_block; }
    index_t begin_of(index_t block) const { return std::min(component_end, component_first + block * sum_block); }
};

/// Draws a part of a component. @param position, velocity  of its particles   @param sums  of all blocks of the component, positions and
/// velocities in turn; those of other parts stay unchanged
template <Space S, class Report>
void draw_part(S on, const ParticleDraw& component, const SharedPart& part, View<Vec3<double>> position, View<Vec3<double>> velocity,
               View<Vec3<double>> sums, const Report& report) {
    const index_t at_once = std::same_as<S, Cpu> ? few : many;
    PieceMemory<S> memory(on, std::min(at_once, part.component_end - part.component_first));
    Buffer<Vec3<double>, S> block_sums(on, at_once / sum_block);
    std::vector<Vec3<double>> of_blocks;
    // The first block that begins here may begin after the first particle, and the last one may end after the last.
    const index_t first_block = part.block_of(part.first), end_block = part.block_of(part.end);
    const index_t summed = part.begin_of(first_block), summed_end = std::max(summed, part.begin_of(end_block));
    const auto take = [&](index_t from, const Piece& piece) {
        const index_t n = std::min(piece.position.n, part.end - from);
        copy_to_host(on, position.subview(from - part.first, n), View<const Vec3<double>>(piece.position.subview(0, n)));
        copy_to_host(on, velocity.subview(from - part.first, n), View<const Vec3<double>>(piece.velocity.subview(0, n)));
        report(from + n);
    };
    if (const index_t lead = std::min(summed, part.end) - part.first; lead > 0) {
        const auto piece = memory(part.first, lead);
        draw(on, component, part.first, piece.position, piece.velocity);
        take(part.first, piece);
    }
    for (index_t from = summed; from < summed_end; from += at_once) {
        const index_t n = std::min(at_once, summed_end - from), blocks = (n + sum_block - 1) / sum_block;
        const auto piece = memory(from, n);
        draw(on, component, from, piece.position, piece.velocity);
        of_blocks.resize(static_cast<std::size_t>(blocks));
        const index_t number = (from - part.component_first) / sum_block;
        const auto add = [&](View<const Vec3<double>> values, index_t which) {
            sum_blocks(on, values, block_sums.view().subview(0, blocks));
            copy_to_host(on, view(of_blocks), View<const Vec3<double>>(block_sums.view().subview(0, blocks)));
            for (index_t b = 0; b < blocks; ++b) sums[2 * (number + b) + which] = of_blocks[static_cast<std::size_t>(b)];
        };
        add(piece.position, 0);
        add(piece.velocity, 1);
        if (from < part.end) take(from, piece);
    }
}

/// First particle of each component, and the number of all particles.
std::vector<index_t> first_particles(const Galaxy& galaxy) {
    std::vector<index_t> first{0};
    for (const auto count : galaxy.counts()) first.push_back(first.back() + count);
    return first;
}

/// Sets masses, types and ids of the particles first, first + 1, ... of a galaxy.
void label(const Galaxy& galaxy, Cpu on, Particles& into, index_t first) {
    const auto begin = first_particles(galaxy);
    const index_t end = first + into.size();
    for (std::size_t c = 0; c + 1 < begin.size(); ++c) {
        const auto& component = galaxy.model().components[c];
        const double mass = component.mass / static_cast<double>(begin[c + 1] - begin[c]);
        const index_t from = std::max(first, begin[c]), to = std::min(end, begin[c + 1]);
        parallel_for(on, std::max<index_t>(to - from, 0), [&, type = component.type](index_t j) {
            const auto k = static_cast<std::size_t>(from - first + j);
            into.mass[k] = mass;
            into.type[k] = type;
            into.id[k] = static_cast<std::uint64_t>(from + j) + 1;
        });
    }
}

}  // namespace

struct Sampler::Draws {
    TableMemory<Cpu> tables;
    std::vector<ParticleDraw> of_component;
};

Sampler::Sampler(const Galaxy& galaxy, Cpu on, const ProgressFunction& progress)
    : galaxy_(&galaxy), on_(on), first_(first_particles(galaxy)) {
    auto draws = std::make_shared<Draws>(Draws{TableMemory<Cpu>(on), {}});
    for (std::size_t c = 0; c + 1 < first_.size(); ++c) {
        const auto& component = draws->of_component.emplace_back(draw_of(galaxy, c, draws->tables));
        PieceMemory<Cpu> memory(on_, std::min(few, first_[c + 1] - first_[c]));
        const auto report = [&](index_t from, const Piece&) {
            if (progress) progress(static_cast<double>(from) / static_cast<double>(size()), galaxy.model().components[c].label());
        };
        const auto centre = draw_component(on_, component, first_[c], first_[c + 1], few, std::ref(memory), report);
        position_.push_back(centre.position);
        velocity_.push_back(centre.velocity);
    }
    draws_ = std::move(draws);
    if (progress) progress(1, "");
}

std::size_t Sampler::component_of(index_t particle) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), particle) - first_.begin()) - 1;
}

void Sampler::fill(Particles& into, index_t first, index_t n) const {
    KS_EXPECT(first >= 0 && n >= 0 && first + n <= size());
    into.resize(n);
    if (n == 0) return;
    label(*galaxy_, on_, into, first);
    for (std::size_t c = component_of(first); c + 1 < first_.size() && first_[c] < first + n; ++c) {
        const index_t begin = std::max(first, first_[c]), end = std::min(first + n, first_[c + 1]);
        const auto position = view(into.position).subview(begin - first, end - begin);
        const auto velocity = view(into.velocity).subview(begin - first, end - begin);
        draw(on_, draws_->of_component[c], begin, position, velocity);
        parallel_for(on_, end - begin, [&](index_t i) {
            position[i] -= position_[c];
            velocity[i] -= velocity_[c];
        });
    }
}

Particles sample(const Galaxy& galaxy, const AnySpace& on, const ProgressFunction& progress) {
    const auto* cpu = std::get_if<Cpu>(&on);
    const Cpu threads = cpu ? *cpu : Cpu{};
    const auto first = first_particles(galaxy);
    Particles all;
    all.resize(first.back());
    label(galaxy, threads, all, 0);
    for (std::size_t c = 0; c + 1 < first.size(); ++c) {
        const auto report = [&](index_t from) {
            if (progress) progress(static_cast<double>(from) / static_cast<double>(first.back()), galaxy.model().components[c].label());
        };
        std::visit(
            [&]<Space S>(S space) {
                TableMemory<S> tables(space);
                const auto centre = draw_into(space, draw_of(galaxy, c, tables), first[c], first[c + 1], all, report);
                parallel_for(threads, first[c + 1] - first[c], [&](index_t i) {
                    all.position[static_cast<std::size_t>(first[c] + i)] -= centre.position;
                    all.velocity[static_cast<std::size_t>(first[c] + i)] -= centre.velocity;
                });
            },
            on);
    }
    if (progress) progress(1, "");
    return all;
}

Particles sample(const Galaxy& galaxy, const AnySpace& on, index_t first, index_t n, const AddOverProcesses& add,
                 const ProgressFunction& progress) {
    const auto* cpu = std::get_if<Cpu>(&on);
    const Cpu threads = cpu ? *cpu : Cpu{};
    const auto begin = first_particles(galaxy);
    KS_EXPECT(first >= 0 && n >= 0 && first + n <= begin.back());
    const index_t end = first + n;
    Particles own;
    own.resize(n);
    label(galaxy, threads, own, first);
    const auto blocks_of = [&](std::size_t c) { return (begin[c + 1] - begin[c] + sum_block - 1) / sum_block; };
    std::vector<index_t> first_block{0};
    for (std::size_t c = 0; c + 1 < begin.size(); ++c) first_block.push_back(first_block.back() + blocks_of(c));
    std::vector<Vec3<double>> sums(static_cast<std::size_t>(2 * first_block.back()));
    for (std::size_t c = 0; c + 1 < begin.size(); ++c) {
        const index_t from = std::max(first, begin[c]), to = std::min(end, begin[c + 1]);
        if (from >= to) continue;
        const auto report = [&](index_t drawn) {
            if (progress) progress(static_cast<double>(drawn - first) / static_cast<double>(n), galaxy.model().components[c].label());
        };
        std::visit(
            [&]<Space S>(S space) {
                TableMemory<S> tables(space);
                draw_part(space, draw_of(galaxy, c, tables), {begin[c], begin[c + 1], from, to},
                          view(own.position).subview(from - first, to - from), view(own.velocity).subview(from - first, to - from),
                          view(sums).subview(2 * first_block[c], 2 * blocks_of(c)), report);
            },
            on);
    }
    static_assert(sizeof(Vec3<double>) == 3 * sizeof(double));
    add({&sums.front().x, 3 * std::ssize(sums)});
    for (std::size_t c = 0; c + 1 < begin.size(); ++c) {
        Sum position, velocity;
        for (index_t b = first_block[c]; b < first_block[c + 1]; ++b) {
            position.add({sums[static_cast<std::size_t>(2 * b)]});
            velocity.add({sums[static_cast<std::size_t>(2 * b + 1)]});
        }
        const auto centre = Centre{position.mean(begin[c + 1] - begin[c]), velocity.mean(begin[c + 1] - begin[c])};
        const index_t from = std::max(first, begin[c]), to = std::min(end, begin[c + 1]);
        parallel_for(threads, std::max<index_t>(to - from, 0), [&, at = from - first](index_t i) {
            own.position[static_cast<std::size_t>(at + i)] -= centre.position;
            own.velocity[static_cast<std::size_t>(at + i)] -= centre.velocity;
        });
    }
    if (progress) progress(1, "");
    return own;
}

Particles sample(const GalaxyModel& model, const AnySpace& on, const ProgressFunction& progress) {
    const auto* cpu = std::get_if<Cpu>(&on);
    const Galaxy galaxy(model, cpu ? *cpu : Cpu{}, part_of(progress, 0, 0.5));
    for (const auto& caution : cautions(galaxy)) log::warning("{}", caution.message);
    return sample(galaxy, on, part_of(progress, 0.5, 1));
}

Particles sample(const Component& component, std::uint64_t seed, double G, const AnySpace& on) {
    try {
        return sample(GalaxyModel{.components = {component}, .seed = seed, .G = G}, on);
    } catch (const InputError& error) {
        auto problems = error.problems();
        constexpr std::string_view prefix = "components.0";
        for (auto& [message, where] : problems) {
            if (!where.key.starts_with(prefix)) continue;
            where.key.erase(0, prefix.size() + (where.key.size() > prefix.size() ? 1 : 0));
        }
        throw InputError(std::move(problems));
    }
}

Particles plummer(const PlummerOptions& o) {
    return sample(Component{.law = Plummer{}, .mass = o.mass, .scale = o.scale, .count = o.count}, o.seed, o.G);
}

}  // namespace kasane::gravity
