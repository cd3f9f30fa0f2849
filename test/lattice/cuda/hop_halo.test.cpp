// The hop with a halo, on the host: the bodies of all workers of a grid, one after the other, against the body on the whole lattice, bit by
// bit. Kernels and waits run where several devices are: DistributedDiracOn.
#include <lattice/cuda/plain_dirac.hpp>

#include <kasane/core/comm/communicator.hpp>
#include <kasane/lattice/dirac/cuda/hop_halo.body.hpp>
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>
#include <kasane/lattice/dirac/cuda/tiling.hpp>
#include <kasane/lattice/distributed/halo_places.hpp>
#include <kasane/lattice/links.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace kasane::lattice::device {
namespace {

using test::random_gauge_field;
using test::random_spinor_field;

/// A field on the host in the memory layout of a device, with places after those of the lattice.
template <Precision P>
struct HostField {
    std::vector<Chunk> data;
    std::vector<float> scale;

    explicit HostField(index_t places) {
        const auto blocks = static_cast<std::size_t>((places + row - 1) / row);
        // Not finite, and in half a large scale: places that must not be read would be seen.
        data.assign(blocks * spinor_chunks<P> * row, Chunk{{~0u, ~0u, ~0u, ~0u}});
        scale.assign(blocks * row, 1e30f);
    }
    FieldView<P> view() { return {data.data(), scale.data()}; }
};

template <Precision P>
void set(const FieldView<P>& to, std::uint32_t place, const SpinorField& from, index_t site) {
    Spinor<Real<P>> v;
    for (int k = 0; k < 12; ++k) {
        const auto z = from.at(site, k / 3, k % 3);
        v.s[k / 3].c[k % 3] = {static_cast<Real<P>>(z.real()), static_cast<Real<P>>(z.imag())};
    }
    store_spinor<P>(to, place, v);
}

template <Precision P>
bool same(const FieldView<P>& a, std::uint32_t i, const FieldView<P>& b, std::uint32_t j) {
    for (int c = 0; c < spinor_chunks<P>; ++c)
        if (std::memcmp(a.at(i) + c * static_cast<int>(row), b.at(j) + c * static_cast<int>(row), sizeof(Chunk)) != 0) return false;
    return P != Precision::half || std::memcmp(a.scale + i, b.scale + j, sizeof(float)) == 0;
}

Site sum(Site a, const Site& b) {
    for (int mu = 0; mu < 4; ++mu) a[mu] += b[mu];
    return a;
}

/// The part of the links that belongs to a worker, with a halo in divided directions.
GaugeField part_with_halo(const GaugeField& whole, const RankGrid& grid, int worker) {
    Extents n = grid.local();
    for (int mu = 0; mu < 4; ++mu) n.n[mu] += grid.divided(mu) ? 2 : 0;
    GaugeField part(n);
    for (index_t i = 0; i < n.volume(); ++i) {
        Site x = sum(n.site(i), grid.origin(worker));
        for (int mu = 0; mu < 4; ++mu) x[mu] = (x[mu] - (grid.divided(mu) ? 1 : 0) + whole.extents[mu]) % whole.extents[mu];
        for (int mu = 0; mu < 4; ++mu) part.link(i, mu) = whole.link(x, mu);
    }
    return part;
}

template <Precision P, LinkReals R, bool half_links>
class HopOfAllWorkers {
   public:
    using Format = LinkFormat<Real<P>, R, half_links>;

    HopOfAllWorkers(const Extents& lattice, const GridShape& shape, bool temporal_gauge, bool adjoint, Parity to)
        : grid_(RankGrid::given(lattice, shape[0] * shape[1] * shape[2] * shape[3], shape)),
          in_(random_spinor_field(lattice, 3)),
          temporal_gauge_(temporal_gauge),
          adjoint_(adjoint),
          to_(to) {
        links_ = random_gauge_field(lattice, 1);
        if (!temporal_gauge) return;
        for (index_t i = 0; i < lattice.volume(); ++i)
            if (lattice.site(i)[3] != lattice[3] - 1) links_.link(i, 3) = Su3<double>::unit();
    }

    void compare() {
        const auto& n = links_.extents;
        auto one = part(n, links_, {}, {});
        HostField<P> expected(n.half());
        one.task.out = expected.view();
        for (std::uint32_t i = 0; i < one.task.sites; ++i)
            hop_site<P, R, half_links, Readers::one, HopTask<P>>(one.task, HopForm::plain, i);

        std::vector<Part> workers;
        std::vector<HaloPlaces> places;
        std::vector<HostField<P>> out;
        Site first{};
        for (int mu = 0; mu < 4; ++mu) first[mu] = grid_.divided(mu) ? 1 : 0;
        for (int w = 0; w < grid_.size(); ++w) {
            workers.push_back(part(grid_.local(), part_with_halo(links_, grid_, w), first, grid_.origin(w)));
            places.push_back(halo_places(workers.back().tiling, grid_, w));
            out.emplace_back(grid_.local().half());
        }
        constexpr std::uint32_t ticket = 7;
        std::vector<std::vector<Chunk>> halos;
        for (const auto& each : places) halos.emplace_back((each.end + row - 1) / row * row * halo_units<P>);
        for (int w = 0; w < grid_.size(); ++w)
            for (int d = 0; d < directions; ++d)
                for (const auto& site : places[static_cast<std::size_t>(w)].sent[static_cast<int>(other(to_))][d]) {
                    const auto receiver =
                        static_cast<std::size_t>(places[static_cast<std::size_t>(w)].receiver[static_cast<std::size_t>(d)]);
                    ASSERT_GE(site.to, grid_.local().half());
                    store_to_halo<P>(load_stored<P>(workers[static_cast<std::size_t>(w)].task.in, site.from),
                                     HaloView<P>{halos[receiver].data()}, site.to, ticket);
                }
        for (std::size_t w = 0; w < workers.size(); ++w) {
            auto& task = workers[w].task;
            task.tiles.neighbours = places[w].neighbours.data();
            task.halo.sites = {halos[w].data()};
            task.halo.ticket = ticket;
            task.out = out[w].view();
            const bool time_alone = grid_.shape()[0] * grid_.shape()[1] * grid_.shape()[2] == 1;
            const HaloHopTask<P, HaloOf::time> of_time{task, task.halo};
            for (std::uint32_t i = 0; i < task.sites; ++i) {
                if (time_alone)
                    hop_site<P, R, half_links>(of_time, HopForm::plain, i);
                else
                    hop_site<P, R, half_links>(task, HopForm::plain, i);
                const Site x = sum(task.tiles.site(to_, i), grid_.origin(static_cast<int>(w)));
                ASSERT_TRUE(same<P>(task.out, i, one.task.out, one.task.tiles.place(x)))
                    << grid_.text() << ", worker " << w << ", site " << x[0] << " " << x[1] << " " << x[2] << " " << x[3];
            }
        }
    }

   private:
    /// A local lattice, or the whole one.
    struct Part {
        Tiling tiling;
        std::vector<char> links;
        HostField<P> in;
        HaloHopTask<P, HaloOf::every_direction> task;
    };
    Part part(const Extents& n, const GaugeField& links, const Site& first, const Site& origin) const {
        Part made{lattice_tiling(n), {}, HostField<P>(n.half()), {}};
        auto& tiles = made.tiling.tiles;
        tiles.lanes = made.tiling.lanes.data();
        tiles.neighbours = made.tiling.neighbours.data();
        const auto there = links_on(Cpu{1}, links);
        made.links.resize(static_cast<std::size_t>((n.half() + row - 1) / row * row * Format::place_bytes));
        const PackLinks<Real<P>, R, half_links> pack{tiles, to_, there.view(), first, made.links.data()};
        for (index_t i = 0; i < n.half(); ++i) pack(i);
        for (std::uint32_t i = 0; i < n.half(); ++i)
            set<P>(made.in.view(), i, in_, in_.extents.lexicographic(sum(tiles.site(other(to_), i), origin)));
        auto& task = made.task;
        task.tiles = tiles;
        task.sites = static_cast<std::uint32_t>(n.half());
        task.to = to_;
        task.in = made.in.view();
        task.links = made.links.data();
        task.c = Real<P>(-0.37);
        task.sign = adjoint_ ? -1 : 1;
        task.boundary_sign = -1;
        task.temporal_gauge = temporal_gauge_;
        return made;
    }

    RankGrid grid_;
    GaugeField links_;
    SpinorField in_;
    bool temporal_gauge_, adjoint_;
    Parity to_;
};

template <Precision P, LinkReals R, bool half_links = P == Precision::half>
void compare(const Extents& lattice, const GridShape& shape) {
    for (const bool temporal_gauge : {false, true})
        for (const Parity to : {Parity::even, Parity::odd})
            HopOfAllWorkers<P, R, half_links>(lattice, shape, temporal_gauge, to == Parity::odd, to).compare();
}

TEST(HopWithHalo, HasTheBitsOfTheWholeLattice) {
    const auto in_every_precision = [](const Extents& lattice, const GridShape& shape) {
        compare<Precision::double_, LinkReals::all>(lattice, shape);
        compare<Precision::single, LinkReals::two_rows>(lattice, shape);
        compare<Precision::half, LinkReals::two_rows>(lattice, shape);
    };
    // Each direction alone, 2 and more workers; all together; local extents of 2, whose sites are on two faces; tiles that are no blocks of
    // 32 places.
    const Extents n{{4, 4, 4, 8}};
    for (const GridShape& shape :
         {GridShape{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}, {1, 1, 1, 4}, {1, 2, 1, 2}, {2, 2, 2, 2}})
        in_every_precision(n, shape);
    in_every_precision({{2, 12, 2, 2}}, {1, 3, 1, 1});
    in_every_precision({{6, 2, 10, 4}}, {3, 1, 1, 2});
    in_every_precision({{16, 8, 8, 8}}, {1, 1, 1, 2});
    compare<Precision::single, LinkReals::all, true>(n, {1, 1, 2, 2});
    compare<Precision::half, LinkReals::all>(n, {1, 1, 1, 4});
}

}  // namespace
}  // namespace kasane::lattice::device
