// The operator's parts on the CPU against the textbook oracle: every precision, storage of links, form and instruction set, on extents
// that fill the lanes with sub-lattices (4^4, 8^4), with a mixture (2x4x6x8, 4x4x2x6) and with consecutive sites only.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/solve/fields.hpp>
#include <kasane/perf/simd.hpp>

#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kasane::lattice {
namespace {

using reference::relative_difference;
constexpr double kappa = 0.13, csw = 0.9;

const std::vector<Extents>& operator_shapes() {
    static const std::vector<Extents> all = {{4, 4, 4, 4}, {2, 4, 6, 8}, {6, 2, 10, 4}, {4, 4, 2, 6}, {2, 6, 2, 10}, {2, 2, 2, 2}};
    return all;
}

/// Bound of |x - y| / |y| by roundings in a hop and a clover term.
double tolerance(Precision precision, bool half_links) {
    // A number of the result sums 8 x 2 x 3 products, and the clover term (whose condition is below 10) some 12 more; their roundings are
    // independent, so the norm of the difference is a few units.
    if (precision == Precision::double_) return 20 * std::numeric_limits<double>::epsilon();
    if (precision == Precision::single && !half_links) return 20 * std::numeric_limits<float>::epsilon();
    // Numbers of 16 bits: half a step of 2^-15 of a scale, which is 2.4 times a typical number (largest of 24 Gaussian ones) in the
    // spinors, read and written, and 1.7 times one in the links, of which reconstructed rows have up to twice the error.
    return 5 * 0x1p-15;
}

struct Storage {
    Precision precision;
    LinkStorage links;
};
std::vector<Storage> storages() {
    std::vector<Storage> all;
    for (const auto reals : {LinkReals::all, LinkReals::two_rows, LinkReals::parameters}) {
        all.push_back({Precision::double_, {.reals = reals}});
        all.push_back({Precision::single, {.reals = reals}});
        all.push_back({Precision::single, {.reals = reals, .half = true}});
        all.push_back({Precision::half, {.reals = reals}});
    }
    return all;
}

template <Precision P>
struct Operator {
    std::shared_ptr<const Lattice<Cpu>> lattice;
    Dirac<Cpu, P> dirac;
    Operator(const GaugeField& u, bool clover, Boundary boundary, LinkStorage storage, int threads = 1)
        : lattice(std::make_shared<const Lattice<Cpu>>(Cpu{threads}, u.extents)), dirac(make(u, clover, boundary, storage)) {}

    Dirac<Cpu, P> make(const GaugeField& u, bool clover, Boundary boundary, LinkStorage storage) const {
        const auto links = links_on(Cpu{}, u);
        if (!clover) return {lattice, links, nullptr, boundary, storage};
        const auto A = clover_term(links, kappa * csw);
        return {lattice, links, &A, boundary, storage};
    }
    Field<Cpu, P> loaded(const SpinorField& psi, Parity parity) const {
        Field<Cpu, P> field(lattice);
        load(psi, parity, field);
        return field;
    }
    /// out's parity of own + c H in; the other parity is 0.
    SpinorField hop(HopForm form, Parity to, bool adjoint, double c, const SpinorField& psi, bool with_x, bool in_place = false) const {
        const auto in = loaded(psi, other(to));
        auto x = loaded(psi, to);
        Field<Cpu, P> out(lattice);
        auto& result = in_place ? x : out;
        dirac.hop(form, to, adjoint, c, in, with_x ? &x : nullptr, result);
        SpinorField stored(psi.extents);
        store(result, to, stored);
        return stored;
    }
};

/// Calls with the operator in that storage; f(op, tolerance).
template <class F>
void with_operator(const Storage& s, const GaugeField& u, bool clover, Boundary boundary, const F& f) {
    const double bound = tolerance(s.precision, s.links.half);
    if (s.precision == Precision::double_)
        f(Operator<Precision::double_>(u, clover, boundary, s.links), bound);
    else if (s.precision == Precision::single)
        f(Operator<Precision::single>(u, clover, boundary, s.links), bound);
    else
        f(Operator<Precision::half>(u, clover, boundary, s.links), bound);
}

/// The contract of hop(), by the oracle.
SpinorField expected_hop(const reference::WilsonClover& oracle, HopForm form, Parity to, bool adjoint, double c, const SpinorField& psi,
                         bool with_x) {
    auto hopped = oracle.only(to, oracle.hop(oracle.only(other(to), psi), adjoint));
    if (form == HopForm::inverse) hopped = oracle.clover(hopped, true);
    auto own = oracle.only(to, psi);
    if (form == HopForm::clover) own = oracle.clover(own);
    return reference::combination(with_x ? 1 : 0, own, c, hopped);
}

/// All forms of one operator against the oracle.
void expect_all_forms(const Storage& s, const GaugeField& u, const SpinorField& psi, Boundary boundary) {
    const reference::WilsonClover oracle(u, kappa, csw, boundary == Boundary::antiperiodic);
    with_operator(s, u, true, boundary, [&](const auto& op, double bound) {
        for (const auto to : {Parity::even, Parity::odd})
            for (const auto form : {HopForm::plain, HopForm::inverse, HopForm::clover})
                for (const bool adjoint : {false, true})
                    for (const bool with_x : {false, true}) {
                        if (form == HopForm::clover && !with_x) continue;
                        const auto expected = expected_hop(oracle, form, to, adjoint, -kappa, psi, with_x);
                        EXPECT_LT(relative_difference(op.hop(form, to, adjoint, -kappa, psi, with_x), expected), bound)
                            << text(u.extents) << " " << name(s.precision, s.links) << " form " << static_cast<int>(form) << " to "
                            << static_cast<int>(to) << " adjoint " << adjoint << " x " << with_x;
                    }
    });
}

class CpuDirac : public ::testing::Test {
   protected:
    void TearDown() override { select_simd_target(""); }
};

TEST_F(CpuDirac, EveryStorageEqualsTheOracle) {
    const Extents extents{4, 4, 4, 4};
    const auto u = test::random_gauge(extents, 11);
    const auto psi = test::random_spinor(extents, 12);
    for (const auto& s : storages())
        for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic}) expect_all_forms(s, u, psi, boundary);
}

TEST_F(CpuDirac, EveryShapeEqualsTheOracle) {
    for (const auto& extents : operator_shapes()) {
        const auto u = test::random_gauge(extents, 21);
        const auto psi = test::random_spinor(extents, 22);
        expect_all_forms({Precision::double_, {}}, u, psi, Boundary::antiperiodic);
        expect_all_forms({Precision::single, {.reals = LinkReals::two_rows}}, u, psi, Boundary::antiperiodic);
        expect_all_forms({Precision::half, {.reals = LinkReals::parameters}}, u, psi, Boundary::antiperiodic);
    }
}

TEST_F(CpuDirac, EveryInstructionSetEqualsTheOracle) {
    const auto targets = simd_targets();
    for (const auto& target : targets) {
        select_simd_target(target);
        SCOPED_TRACE(target);
        for (const auto& extents : {Extents{4, 4, 4, 4}, Extents{2, 4, 6, 8}}) {
            const auto u = test::random_gauge(extents, 31);
            const auto psi = test::random_spinor(extents, 32);
            for (const auto precision : {Precision::half, Precision::single, Precision::double_})
                expect_all_forms({precision, {.reals = LinkReals::two_rows}}, u, psi, Boundary::antiperiodic);
        }
    }
}

TEST_F(CpuDirac, SubLatticesOfTwoVectorsEqualTheOracle) {
    const Extents extents{8, 8, 8, 8};
    const auto u = test::random_gauge(extents, 41);
    const auto psi = test::random_spinor(extents, 42);
    const reference::WilsonClover oracle(u, kappa, 0, true);
    const auto expected = expected_hop(oracle, HopForm::plain, Parity::odd, false, 1, psi, false);
    for (const auto& s : storages())
        with_operator(s, u, false, Boundary::antiperiodic, [&](const auto& op, double bound) {
            EXPECT_LT(relative_difference(op.hop(HopForm::plain, Parity::odd, false, 1, psi, false), expected), bound)
                << name(s.precision, s.links);
        });
}

TEST_F(CpuDirac, CloverTermAndItsInverseEqualTheOracle) {
    for (const auto& extents : {Extents{4, 4, 4, 4}, Extents{6, 2, 10, 4}}) {
        const auto u = test::random_gauge(extents, 51);
        const auto psi = test::random_spinor(extents, 52);
        const reference::WilsonClover oracle(u, kappa, csw, true);
        for (const auto precision : {Precision::half, Precision::single, Precision::double_})
            with_operator({precision, {}}, u, true, Boundary::periodic, [&](const auto& op, double bound) {
                for (const auto parity : {Parity::even, Parity::odd})
                    for (const bool inverse : {false, true}) {
                        auto field = op.loaded(psi, parity);
                        op.dirac.clover(parity, inverse, field, field);
                        SpinorField result(extents);
                        store(field, parity, result);
                        EXPECT_LT(relative_difference(result, oracle.only(parity, oracle.clover(psi, inverse))), bound)
                            << name(precision) << (inverse ? " inverse" : "");
                    }
            });
    }
}

TEST_F(CpuDirac, WithoutCloverTermTheFormsAreTheSame) {
    const Extents extents{4, 2, 6, 4};
    const auto u = test::random_gauge(extents, 61);
    const auto psi = test::random_spinor(extents, 62);
    const Operator<Precision::double_> op(u, false, Boundary::antiperiodic, {});
    const auto plain = op.hop(HopForm::plain, Parity::even, false, 0.3, psi, true);
    EXPECT_EQ(op.hop(HopForm::inverse, Parity::even, false, 0.3, psi, true).values, plain.values);
    EXPECT_EQ(op.hop(HopForm::clover, Parity::even, false, 0.3, psi, true).values, plain.values);
    auto field = op.loaded(psi, Parity::odd), out = op.loaded(psi, Parity::even);
    op.dirac.clover(Parity::odd, true, field, out);
    SpinorField before(extents), after(extents);
    store(field, Parity::odd, before);
    store(out, Parity::odd, after);
    EXPECT_EQ(before.values, after.values);
}

TEST_F(CpuDirac, ResultMayTakeThePlaceOfX) {
    const Extents extents{4, 4, 2, 6};
    const auto u = test::random_gauge(extents, 71);
    const auto psi = test::random_spinor(extents, 72);
    for (const auto precision : {Precision::half, Precision::single, Precision::double_})
        with_operator({precision, {}}, u, true, Boundary::antiperiodic, [&](const auto& op, double) {
            for (const auto form : {HopForm::plain, HopForm::inverse, HopForm::clover})
                EXPECT_EQ(op.hop(form, Parity::odd, false, -kappa, psi, true, true).values,
                          op.hop(form, Parity::odd, false, -kappa, psi, true, false).values);
        });
}

TEST_F(CpuDirac, TemporalGaugeReadsLinksInTimeOnTheLastSliceAlone) {
    for (const auto& extents : {Extents{4, 4, 4, 4}, Extents{2, 6, 2, 10}, Extents{4, 4, 4, 8}}) {
        auto u = test::random_gauge(extents, 81);
        for (index_t x = 0; x < extents.volume(); ++x)
            if (extents.site(x)[3] < extents[3] - 1) u.link(x, 3) = Su3<double>::unit();
        const auto psi = test::random_spinor(extents, 82);
        for (const auto precision : {Precision::half, Precision::single, Precision::double_}) {
            expect_all_forms({precision, {.reals = LinkReals::two_rows, .temporal_gauge = true}}, u, psi, Boundary::antiperiodic);
            // Links that are not read may have any value.
            auto spoiled = u;
            for (index_t x = 0; x < extents.volume(); ++x)
                if (extents.site(x)[3] < extents[3] - 1) spoiled.link(x, 3) = Su3<double>::zero();
            const LinkStorage storage{.temporal_gauge = true};
            with_operator({precision, storage}, u, false, Boundary::periodic, [&](const auto& op, double) {
                with_operator({precision, storage}, spoiled, false, Boundary::periodic, [&](const auto& same, double) {
                    EXPECT_EQ(op.hop(HopForm::plain, Parity::odd, false, 1, psi, false).values,
                              same.hop(HopForm::plain, Parity::odd, false, 1, psi, false).values);
                });
            });
        }
    }
}

TEST_F(CpuDirac, ThreadsDoNotChangeABit) {
    const Extents extents{8, 8, 8, 16};  // several parts
    const auto u = test::random_gauge(extents, 91);
    const auto psi = test::random_spinor(extents, 92);
    const Operator<Precision::single> one(u, true, Boundary::antiperiodic, {}, 1);
    const auto expected = one.hop(HopForm::inverse, Parity::even, false, -kappa, psi, true);
    for (const int threads : {2, 3}) {
        const Operator<Precision::single> more(u, true, Boundary::antiperiodic, {}, threads);
        EXPECT_EQ(more.hop(HopForm::inverse, Parity::even, false, -kappa, psi, true).values, expected.values) << threads;
    }
}

/// Both parities of one sweep.
template <Precision P>
SpinorField whole(const Operator<P>& op, bool adjoint, double c, const SpinorField& psi) {
    const auto even = op.loaded(psi, Parity::even), odd = op.loaded(psi, Parity::odd);
    Field<Cpu, P> out_even(op.lattice), out_odd(op.lattice);
    op.dirac.whole(adjoint, c, even, odd, out_even, out_odd);
    SpinorField stored(psi.extents);
    store(out_even, Parity::even, stored);
    store(out_odd, Parity::odd, stored);
    return stored;
}

TEST_F(CpuDirac, WholeOperatorHasTheBitsOfTwoHops) {
    for (const auto& extents : {Extents{4, 4, 4, 8}, Extents{4, 4, 2, 6}}) {
        const auto u = test::random_gauge(extents, 95);
        const auto psi = test::random_spinor(extents, 96);
        for (const auto& s : storages())
            for (const bool clover : {false, true})
                with_operator(s, u, clover, Boundary::antiperiodic, [&](const auto& op, double) {
                    for (const bool adjoint : {false, true}) {
                        const auto even = op.hop(HopForm::clover, Parity::even, adjoint, -kappa, psi, true),
                                   odd = op.hop(HopForm::clover, Parity::odd, adjoint, -kappa, psi, true);
                        EXPECT_EQ(whole(op, adjoint, -kappa, psi).values, reference::combination(1, even, 1, odd).values)
                            << text(extents) << " " << name(s.precision, s.links) << (adjoint ? " adjoint" : "");
                    }
                });
    }
}

TEST_F(CpuDirac, WholeOperatorEqualsTheOracleOnAnyThreads) {
    const Extents extents{8, 8, 8, 16};  // several parts
    const auto u = test::random_gauge(extents, 97);
    const auto psi = test::random_spinor(extents, 98);
    const reference::WilsonClover oracle(u, kappa, csw, true);
    const auto expected = reference::combination(1, oracle.clover(psi), -kappa, oracle.hop(psi, false));
    const auto one = whole(Operator<Precision::double_>(u, true, Boundary::antiperiodic, {}, 1), false, -kappa, psi);
    EXPECT_LT(relative_difference(one, expected), tolerance(Precision::double_, false));
    EXPECT_EQ(whole(Operator<Precision::double_>(u, true, Boundary::antiperiodic, {}, 3), false, -kappa, psi).values, one.values);
}

TEST_F(CpuDirac, RefusesAnOddExtent) { EXPECT_THROW(Lattice<Cpu>(Cpu{}, Extents{4, 4, 3, 4}), InputError); }

TEST_F(CpuDirac, CountsItsBytes) {
    const auto u = test::unit_gauge({8, 8, 8, 8});
    const Operator<Precision::single> op(u, true, Boundary::periodic, {.reals = LinkReals::two_rows});
    // A hop reads 8 links of 12 numbers, of which 4 belong to a site; two or three spinors of 24; 54 numbers of the clover term.
    EXPECT_EQ(op.dirac.bytes_per_site(HopForm::plain, false), 4 * (8 * 12 + 2 * 24));
    EXPECT_EQ(op.dirac.bytes_per_site(HopForm::inverse, true), 4 * (8 * 12 + 3 * 24 + 54));
    EXPECT_EQ(op.dirac.bytes(), 4096u * 4 * (4 * 12 + 54));
    const Operator<Precision::half> half(u, false, Boundary::periodic, {});
    EXPECT_EQ(half.dirac.bytes_per_site(HopForm::plain, true), 2 * 8 * 18 + 3 * (2 * 24 + 4));
}

}  // namespace
}  // namespace kasane::lattice
