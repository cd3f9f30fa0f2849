// Particles of a galaxy and the sums for their centre of mass, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/gravity/galaxy/particle_draw.hpp>

namespace kasane::gravity {
namespace {

struct DrawOne {
    const ParticleDraw* component;  // in the memory of the space: larger than the arguments of a kernel should be
    index_t first;
    Vec3<double>*position, *velocity;
    KS_FN void operator()(index_t i) const {
        const auto drawn = (*component)(first + i);
        position[i] = drawn.position;
        velocity[i] = drawn.velocity;
    }
};

struct SumBlock {
    View<const Vec3<double>> values;
    Vec3<double>* sums;
    KS_FN void operator()(index_t block) const {
        CompensatedSum<double> x, y, z;
        for (index_t i = block * sum_block; i < (block + 1) * sum_block && i < values.n; ++i) {
            x.add(values[i].x);
            y.add(values[i].y);
            z.add(values[i].z);
        }
        sums[block] = {x.value(), y.value(), z.value()};
    }
};

}  // namespace

template <Space S>
void draw(S on, const ParticleDraw& component, index_t first, View<Vec3<double>> position, View<Vec3<double>> velocity) {
    if constexpr (std::same_as<S, Cpu>) {
        parallel_for(on, position.n, DrawOne{&component, first, position.ptr, velocity.ptr});
    } else {
        Buffer<ParticleDraw, S> there(on, 1);
        copy_from_host(on, there.view(), View<const ParticleDraw>(&component, 1));
        parallel_for(on, position.n, DrawOne{there.data(), first, position.ptr, velocity.ptr});
        synchronize(on);
    }
}

template <Space S>
void sum_blocks(S on, View<const Vec3<double>> values, View<Vec3<double>> sums) {
    const SumBlock sum{values, sums.ptr};
    if constexpr (std::same_as<S, Cpu>)
        for_each_part(thread_count(on), sums.n, sum);
    else
        parallel_for(on, sums.n, sum);
}

template void draw(KS_SPACE, const ParticleDraw&, index_t, View<Vec3<double>>, View<Vec3<double>>);
template void sum_blocks(KS_SPACE, View<const Vec3<double>>, View<Vec3<double>>);

}  // namespace kasane::gravity
