// The body of the CUDA kernel of several columns, executed on the host: the bits of the body of one column, which hop.test.cpp compares
// with the operator's definition on a device.
#include <kasane/core/math/random.hpp>
#include <kasane/lattice/dirac/cuda/hop_columns.body.hpp>
#include <kasane/lattice/dirac/cuda/tiling.hpp>
#include <lattice/cuda/plain_dirac.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace kasane::lattice {

using namespace device;

namespace {

/// A field on the host in the layout of the device; aligned as Chunk is.
template <Precision P>
struct HostField {
    std::vector<Chunk> data;
    std::vector<float> scale;
    explicit HostField(std::uint32_t blocks) : data(blocks * spinor_chunks<P> * row), scale(P == Precision::half ? blocks * row : 0) {}
    FieldView<P> view() { return {data.data(), scale.data()}; }
    bool operator==(const HostField& other) const {
        return std::memcmp(data.data(), other.data.data(), data.size() * sizeof(Chunk)) == 0 && scale == other.scale;
    }
};
template <Precision P>
HostField<P> random_host_field(std::uint32_t blocks, std::uint32_t sites, std::uint64_t seed) {
    HostField<P> field(blocks);
    RandomStream random(seed, 0);
    for (std::uint32_t place = 0; place < sites; ++place) {
        Spinor<Real<P>> p;
        for (auto& spin : p.s)
            for (auto& z : spin.c) {
                const auto re = static_cast<Real<P>>(2 * random.uniform() - 1);
                z = {re, static_cast<Real<P>>(2 * random.uniform() - 1)};
            }
        store_spinor<P>(field.view(), place, p);
    }
    return field;
}

template <Precision P, LinkReals R, int most>
void check_columns(const Extents& n, bool temporal_gauge) {
    constexpr bool half_links = P == Precision::half;
    using Format = LinkFormat<Real<P>, R, half_links>;
    auto gauge = test::random_gauge_field(n, 3);
    if (temporal_gauge)
        for (index_t i = 0; i < n.volume(); ++i)
            if (n.site(i)[3] != n[3] - 1) gauge.link(i, 3) = Su3<double>::unit();
    const auto links = links_on(Cpu{1}, gauge);
    const auto A = clover_term(links, 0.12);
    auto tables = tiling(n, 128);
    tables.tiles.lanes = tables.lanes.data();
    tables.tiles.neighbours = tables.neighbours.data();
    const auto sites = static_cast<std::uint32_t>(n.half()), blocks = (sites + row - 1) / row;
    constexpr int columns = 5;
    for (const Parity to : {Parity::even, Parity::odd}) {
        std::vector<Chunk> packed(static_cast<std::size_t>(blocks * row * Format::place_bytes) / sizeof(Chunk) + 1);
        std::vector<Chunk> clover(blocks * row * clover_bytes<P> / sizeof(Chunk));
        for (index_t i = 0; i < n.half(); ++i) {
            PackLinks<Real<P>, R, half_links>{tables.tiles, to, links.view(), reinterpret_cast<char*>(packed.data())}(i);
            PackClover<P>{tables.tiles, to, A.view(), clover.data()}(i);
        }
        HopTask<P> hop;
        hop.tiles = tables.tiles;
        hop.sites = sites;
        hop.to = to;
        hop.links = reinterpret_cast<const char*>(packed.data());
        hop.clover = clover.data();
        hop.c = static_cast<Real<P>>(-0.37);
        hop.boundary_sign = -1;
        hop.temporal_gauge = temporal_gauge;
        std::vector<HostField<P>> in, x;
        for (std::uint64_t c = 0; c < columns; ++c) {
            in.push_back(random_host_field<P>(blocks, sites, 10 + c));
            x.push_back(random_host_field<P>(blocks, sites, 30 + c));
        }
        for (const auto sign : {Real<P>(1), Real<P>(-1)})
            for (const HopForm form : {HopForm::plain, HopForm::inverse, HopForm::clover})
                for (const bool with_x : {false, true}) {
                    if (form == HopForm::clover && !with_x) continue;
                    hop.sign = sign;
                    std::vector<HostField<P>> out(columns, HostField<P>(blocks)), want = out;
                    if (with_x) out = x;  // in place
                    HopColumnsTask<P> task;
                    task.hop = hop;
                    task.columns = columns;
                    for (std::size_t c = 0; c < columns; ++c) {
                        task.column[c] = {in[c].view(), with_x ? out[c].view() : FieldView<P>{}, out[c].view()};
                        auto one = hop;
                        one.in = in[c].view();
                        if (with_x) one.x = x[c].view();
                        one.out = want[c].view();
                        for (std::uint32_t place = 0; place < sites; ++place) {
                            if (form == HopForm::plain) hop_site<P, R, half_links, HopForm::plain>(one, place);
                            if (form == HopForm::inverse) hop_site<P, R, half_links, HopForm::inverse>(one, place);
                            if (form == HopForm::clover) hop_site<P, R, half_links, HopForm::clover>(one, place);
                        }
                    }
                    for (std::uint32_t place = 0; place < sites; ++place)
                        for (int first = 0; first < columns; first += most)
                            hop_site_columns<P, R, half_links, most>(task, form, place, first);
                    for (std::size_t c = 0; c < columns; ++c)
                        EXPECT_EQ(out[c], want[c])
                            << "column " << c << ", " << name(P, {R}) << " on " << text(n) << ", form " << static_cast<int>(form) << with_x;
                }
    }
}

TEST(HopColumnsBody, HasTheBitsOfOneColumn) {
    for (const Extents n : {Extents{{4, 4, 4, 4}}, Extents{{6, 2, 10, 4}}})
        for (const bool temporal_gauge : {false, true}) {
            check_columns<Precision::half, LinkReals::two_rows, 4>(n, temporal_gauge);
            check_columns<Precision::half, LinkReals::all, 4>(n, temporal_gauge);
            check_columns<Precision::single, LinkReals::two_rows, 4>(n, temporal_gauge);
            check_columns<Precision::single, LinkReals::all, 3>(n, temporal_gauge);
            check_columns<Precision::double_, LinkReals::all, 2>(n, temporal_gauge);
        }
}

}  // namespace
}  // namespace kasane::lattice
