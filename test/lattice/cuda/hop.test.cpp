// Dirac<Cuda, P> against the operator's definition: every form, storage and precision, both parities, the adjoint, with and without x, in
// place, both boundaries, on lattices that are not multiples of a block of threads.
#include <lattice/cuda/plain_dirac.hpp>

#include <kasane/lattice/solve/fields.hpp>

#include <gtest/gtest.h>

#if defined(KASANE_CUDA)
namespace kasane::lattice {

using namespace test;

namespace {

constexpr double kappa_csw = 0.12, c = -0.37;

/// Largest error of a component of out. Components of x are at most 1, of H in about 10, so that an ulp of a result is one of numbers of
/// size 4 c; a few dozen operations each contribute less than that, and A^-1 (condition below 3) triples it. 16-bit fields: half a unit of
/// the largest of eight neighbours' 24 numbers, times sqrt(8 x 3 x 2) x |U_ij| and of out itself; 16-bit links add half a unit (18, 12
/// reals), or up to 4 units in rare places (8 reals), of each of 24 x 2 products. Measured worst values are a third to a half of these.
double tolerance(Precision precision, const LinkStorage& storage) {
    if (precision == Precision::double_) return 1e-14;
    if (precision == Precision::half || storage.half) return storage.reals == LinkReals::parameters ? 5e-4 : 3e-4;
    return 4e-6;
}

struct Case {
    Extents extents;
    LinkStorage storage;
};

class HopOnCuda : public testing::TestWithParam<Case> {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
};

/// c [A^-1] H in + [A] x on one parity.
SpinorField expected(const PlainDirac& D, HopForm form, Parity to, bool adjoint, const SpinorField& in, const SpinorField* x) {
    const auto& n = in.extents;
    SpinorField out(n);
    for (index_t i = 0; i < n.half(); ++i) {
        const Site s = n.site(to, i);
        const index_t at_site = n.lexicographic(s);
        auto h = D.hop(in, s, adjoint);
        const auto A = D.clover(s);
        if (form == HopForm::inverse) h = solution(A, h);
        auto own = x ? at(*x, at_site) : Vector12{};
        if (form == HopForm::clover) own = product(A, own);
        for (int k = 0; k < 12; ++k) out.at(at_site, k / 3, k % 3) = own[k] + c * h[k];
    }
    return out;
}

double largest_difference(const SpinorField& a, const SpinorField& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
        const double d = std::abs(a.values[i] - b.values[i]);
        if (!(d <= worst)) worst = d;  // NaN is the worst
    }
    return worst;
}

template <Precision P>
Field<Cuda, P> on_device(const std::shared_ptr<const Lattice<Cuda>>& lattice, const SpinorField& from, Parity parity) {
    Field<Cuda, P> to(lattice);
    load(from, parity, to);
    return to;
}

template <Precision P>
void check_hops(const Case& given, const GaugeField& gauge, Boundary boundary) {
    if (P == Precision::double_ && given.storage.half) return;
    if (P == Precision::half && given.storage.half) return;  // implied: the same as without
    const auto& n = given.extents;
    SCOPED_TRACE(name(P, given.storage) + " on " + text(n) + ", " + name(boundary));
    const Cuda on{};
    const auto lattice = std::make_shared<const Lattice<Cuda>>(on, n);
    const auto links = links_on(on, gauge);
    const auto A = clover_term(links, kappa_csw);
    const Dirac<Cuda, P> D(lattice, links, &A, boundary, given.storage);
    const PlainDirac plain(gauge, boundary, kappa_csw);
    const auto in = random_spinor_field(n, 3), x = random_spinor_field(n, 4);
    const double allowed = tolerance(P, given.storage);
    for (const Parity to : {Parity::even, Parity::odd}) {
        const auto there = on_device<P>(lattice, in, other(to));
        for (const bool adjoint : {false, true})
            for (const HopForm form : {HopForm::plain, HopForm::inverse, HopForm::clover})
                for (const bool with_x : {false, true}) {
                    if (form == HopForm::clover && !with_x) continue;
                    const auto want = expected(plain, form, to, adjoint, in, with_x ? &x : nullptr);
                    SpinorField got(n);
                    auto out = on_device<P>(lattice, x, to);  // in place where there is x; to be overwritten where not
                    D.hop(form, to, adjoint, c, there, with_x ? &out : nullptr, out);
                    store(out, to, got);
                    EXPECT_LT(largest_difference(got, want), allowed)
                        << static_cast<int>(form) << adjoint << with_x << static_cast<int>(to);
                    if (!with_x || adjoint) continue;
                    const auto apart = on_device<P>(lattice, x, to);
                    Field<Cuda, P> second(lattice);
                    D.hop(form, to, adjoint, c, there, &apart, second);
                    SpinorField again(n);
                    store(second, to, again);
                    EXPECT_EQ(largest_difference(again, got), 0);
                }
    }
}

TEST_P(HopOnCuda, IsTheDefinition) {
    const auto gauge = random_gauge_field(GetParam().extents, 1);
    for (const Boundary boundary : {Boundary::antiperiodic, Boundary::periodic}) {
        check_hops<Precision::double_>(GetParam(), gauge, boundary);
        check_hops<Precision::single>(GetParam(), gauge, boundary);
        check_hops<Precision::half>(GetParam(), gauge, boundary);
    }
}

/// Links of time are 1 except on the last slice: links that are not read must not matter, and those that are read must.
TEST_P(HopOnCuda, TemporalGauge) {
    auto gauge = random_gauge_field(GetParam().extents, 2);
    const auto& n = gauge.extents;
    for (index_t i = 0; i < n.volume(); ++i)
        if (n.site(i)[3] != n[3] - 1) gauge.link(i, 3) = Su3<double>::unit();
    auto given = GetParam();
    given.storage.temporal_gauge = true;
    check_hops<Precision::double_>(given, gauge, Boundary::antiperiodic);
    check_hops<Precision::single>(given, gauge, Boundary::antiperiodic);
    check_hops<Precision::half>(given, gauge, Boundary::antiperiodic);
}

template <Precision P>
void check_clover(const GaugeField& gauge) {
    const auto& n = gauge.extents;
    const Cuda on{};
    const auto lattice = std::make_shared<const Lattice<Cuda>>(on, n);
    const auto links = links_on(on, gauge);
    const auto A = clover_term(links, kappa_csw);
    const Dirac<Cuda, P> D(lattice, links, &A, Boundary::periodic, {});
    const Dirac<Cuda, P> without(lattice, links, nullptr, Boundary::periodic, {});
    const PlainDirac plain(gauge, Boundary::periodic, kappa_csw);
    const auto x = random_spinor_field(n, 5);
    for (const Parity parity : {Parity::even, Parity::odd})
        for (const bool inverse : {false, true}) {
            auto field = on_device<P>(lattice, x, parity);
            SpinorField start(n), got(n), want(n), same(n);
            store(field, parity, start);
            Field<Cuda, P> copy(lattice);
            without.clover(parity, inverse, field, copy);  // A = 1
            store(copy, parity, same);
            EXPECT_EQ(largest_difference(same, start), 0);
            D.clover(parity, inverse, field, field);
            store(field, parity, got);
            for (index_t i = 0; i < n.half(); ++i) {
                const Site s = n.site(parity, i);
                const index_t at_site = n.lexicographic(s);
                const auto v = inverse ? solution(plain.clover(s), at(start, at_site)) : product(plain.clover(s), at(start, at_site));
                for (int k = 0; k < 12; ++k) want.at(at_site, k / 3, k % 3) = v[k];
            }
            EXPECT_LT(largest_difference(got, want), tolerance(P, {})) << static_cast<int>(parity) << inverse;
        }
}

TEST_F(HopOnCuda, CloverTermAndItsInverse) {
    for (const Extents& n : {Extents{{4, 4, 4, 4}}, Extents{{2, 4, 6, 8}}}) {
        const auto gauge = random_gauge_field(n, 6);
        check_clover<Precision::double_>(gauge);
        check_clover<Precision::single>(gauge);
        check_clover<Precision::half>(gauge);
    }
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Extents& n : {Extents{{4, 4, 4, 4}}, Extents{{2, 4, 6, 8}}, Extents{{6, 2, 10, 4}}})
        for (const LinkReals reals : {LinkReals::all, LinkReals::two_rows, LinkReals::parameters})
            for (const bool half : {false, true}) all.push_back({n, {.reals = reals, .half = half}});
    return all;
}
INSTANTIATE_TEST_SUITE_P(Storages, HopOnCuda, testing::ValuesIn(cases()), [](const auto& each) {
    const auto& n = each.param.extents;
    return text(n) + "_" + std::to_string(static_cast<int>(each.param.storage.reals)) + (each.param.storage.half ? "_half_links" : "");
});

}  // namespace
}  // namespace kasane::lattice
#endif
