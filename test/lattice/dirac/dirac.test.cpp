// The operator's parts of every built space, in every precision and storage of the links, against the textbook oracle: one list of cases.
// The error of a result is measured in the roundoff of the stored numbers: 2^-53, 2^-24, and 2^-16 of a site's largest number where fields
// or links are half; with its `growth` in the worst storage, which tests below state.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/solve/fields.hpp>

#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace kasane::lattice {
namespace {

template <class S, Precision P>
struct Kind {
    using Space = S;
    static constexpr Precision precision = P;
};

template <class K>
class DiracTest : public testing::Test {
   protected:
    using On = typename K::Space;
    static constexpr Precision own = K::precision;

    void SetUp() override {
#if defined(KASANE_CUDA)
        if (std::is_same_v<On, Cuda> && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
#endif
    }

    static double roundoff(Precision precision, bool half_links = false) {
        return precision == Precision::half || half_links ? 0x1p-16 : precision == Precision::single ? 0x1p-24 : 0x1p-53;
    }
    static std::vector<LinkStorage> storages(bool temporal_gauge) {
        std::vector<LinkStorage> all;
        for (const auto reals : {LinkReals::all, LinkReals::two_rows, LinkReals::parameters})
            for (const bool half : {false, true}) {
                if (half && own == Precision::double_) continue;
                if (!half && own == Precision::half) continue;
                all.push_back({reals, half, temporal_gauge});
            }
        return all;
    }
    static Field<On, own> loaded(const std::shared_ptr<const Lattice<On>>& lattice, const SpinorField& from, Parity parity) {
        Field<On, own> field(lattice);
        load(from, parity, field);
        return field;
    }
    /// One parity of a field, 0 on the other.
    static SpinorField stored(const Field<On, own>& field, const Extents& extents, Parity parity) {
        SpinorField to(extents);
        store(field, parity, to);
        return to;
    }
};

using Kinds = testing::Types<Kind<Cpu, Precision::double_>, Kind<Cpu, Precision::single>, Kind<Cpu, Precision::half>
#if defined(KASANE_CUDA)
                             ,
                             Kind<Cuda, Precision::double_>, Kind<Cuda, Precision::single>, Kind<Cuda, Precision::half>
#endif
                             >;
struct KindName {
    template <class K>
    static std::string GetName(int) {
        std::string precision = name(K::precision);
        return (std::is_same_v<typename K::Space, Cpu> ? "Cpu_" : "Cuda_") + precision;
    }
};
TYPED_TEST_SUITE(DiracTest, Kinds, KindName);

/// The smallest lattice; bar 1's; and some that are not multiples of a vector, a warp or a tile.
const Extents shapes[] = {{{2, 2, 2, 2}}, {{4, 4, 4, 4}}, {{2, 4, 6, 8}}, {{6, 2, 10, 4}}};
constexpr double kappa = 0.13;

SpinorField only(Parity parity, SpinorField psi) {
    for (index_t x = 0; x < psi.extents.volume(); ++x)
        for (std::size_t i = 0; i < 12 && psi.extents.site(x).parity() != parity; ++i) psi.values[static_cast<std::size_t>(12 * x) + i] = 0;
    return psi;
}

/// Content of a field that must not be read.
SpinorField poison(const Extents& extents) {
    SpinorField psi(extents);
    for (auto& value : psi.values) value = std::numeric_limits<double>::quiet_NaN();
    return psi;
}

/// U_t = 1 except on the last slice: temporal gauge.
void fix_temporal_gauge(GaugeField& u) {
    for (index_t x = 0; x < u.extents.volume(); ++x)
        if (u.extents.site(x)[3] + 1 < u.extents[3]) u.link(x, 3) = Su3<double>::unit();
}

struct HopCase {
    double csw;
    Boundary boundary;
    bool temporal_gauge;
    double epsilon;  ///< of the links: 2 anywhere in the group, small: near 1
};
const HopCase hop_cases[] = {
    {0.9, Boundary::antiperiodic, false, 2},
    {0, Boundary::periodic, false, 0.01},
    {0.9, Boundary::periodic, true, 2},
    {0, Boundary::antiperiodic, true, 2},
};

TYPED_TEST(DiracTest, HopEqualsTheOracle) {
    using S = typename TypeParam::Space;
    constexpr Precision P = TypeParam::precision;
    constexpr double c = -0.37;
    double worst = 0;
    for (const auto& extents : shapes)
        for (const auto& of : hop_cases) {
            auto u = test::random_gauge(extents, 21, of.epsilon);
            if (of.temporal_gauge) fix_temporal_gauge(u);
            const reference::WilsonClover oracle(u, kappa, of.csw, of.boundary == Boundary::antiperiodic);
            const auto lattice = std::make_shared<const Lattice<S>>(S{}, extents);
            const auto links = links_on(S{}, u);
            const auto A = clover_term(links, kappa * of.csw);
            const auto in = test::random_spinor(extents, 22), x = test::random_spinor(extents, 23), ax = oracle.clover(x);
            for (const bool adjoint : {false, true}) {
                const auto h = oracle.hop(in, adjoint), inverse_h = oracle.clover(h, true);
                for (const auto& storage : this->storages(of.temporal_gauge)) {
                    const Dirac<S, P> D(lattice, links, of.csw != 0 ? &A : nullptr, of.boundary, storage);
                    for (const auto to : {Parity::even, Parity::odd}) {
                        const auto from = this->loaded(lattice, in, other(to));
                        for (const auto form : {HopForm::plain, HopForm::inverse, HopForm::clover})
                            for (const char* with : {"no x", "x", "x = out"}) {
                                if (form == HopForm::clover && with == std::string("no x")) continue;
                                const bool alone = with == std::string("no x"), in_place = with == std::string("x = out");
                                const auto term = this->loaded(lattice, x, to);
                                auto out = this->loaded(lattice, in_place ? x : poison(extents), to);
                                D.hop(form, to, adjoint, c, from, alone ? nullptr : in_place ? &out : &term, out);
                                const auto& start = form == HopForm::clover ? ax : x;
                                const auto expected =
                                    only(to, reference::combination(alone ? 0 : 1, start, c, form == HopForm::inverse ? inverse_h : h));
                                const double error = reference::relative_difference(this->stored(out, extents, to), expected) /
                                                     this->roundoff(P, storage.half);
                                worst = std::max(worst, error);
                                // Of half numbers, in, out and x round once each, and links and A as well; eight reals carry an error
                                // up to four times on. Sums of 24 products per neighbour round less than that together.
                                EXPECT_LT(error, 16) << text(extents) << ' ' << name(P, storage) << " csw " << of.csw << ' '
                                                     << name(of.boundary) << " form " << static_cast<int>(form) << " parity "
                                                     << static_cast<int>(to) << (adjoint ? " adjoint " : " ") << with;
                            }
                    }
                }
            }
        }
    this->RecordProperty("worst_error_in_roundoffs", std::to_string(worst));
}

TYPED_TEST(DiracTest, CloverTermEqualsTheOracle) {
    using S = typename TypeParam::Space;
    constexpr Precision P = TypeParam::precision;
    for (const auto& extents : shapes) {
        const auto u = test::random_gauge(extents, 24);
        const reference::WilsonClover oracle(u, kappa, 0.9, true);
        const auto lattice = std::make_shared<const Lattice<S>>(S{}, extents);
        const auto links = links_on(S{}, u);
        const auto A = clover_term(links, kappa * 0.9);
        const auto in = test::random_spinor(extents, 25);
        const Dirac<S, P> D(lattice, links, &A, Boundary::antiperiodic, this->storages(false).front());
        for (const bool inverse : {false, true})
            for (const auto parity : {Parity::even, Parity::odd}) {
                const auto expected = only(parity, oracle.clover(in, inverse));
                const auto from = this->loaded(lattice, in, parity);
                auto out = this->loaded(lattice, poison(extents), parity), in_place = this->loaded(lattice, in, parity);
                D.clover(parity, inverse, from, out);
                D.clover(parity, inverse, in_place, in_place);
                for (const auto* field : {&out, &in_place})
                    EXPECT_LT(reference::relative_difference(this->stored(*field, extents, parity), expected), 16 * this->roundoff(P))
                        << text(extents) << " inverse " << inverse << " parity " << static_cast<int>(parity);
            }
        // Without a clover term A is 1.
        const Dirac<S, P> wilson(lattice, links, nullptr, Boundary::antiperiodic, this->storages(false).front());
        const auto from = this->loaded(lattice, in, Parity::odd);
        auto out = this->loaded(lattice, poison(extents), Parity::odd);
        wilson.clover(Parity::odd, true, from, out);
        EXPECT_LT(reference::relative_difference(this->stored(out, extents, Parity::odd), only(Parity::odd, in)), 2 * this->roundoff(P));
    }
}

TYPED_TEST(DiracTest, FieldsGoAndComeBack) {
    using S = typename TypeParam::Space;
    constexpr Precision P = TypeParam::precision;
    for (const auto& extents : shapes) {
        const auto lattice = std::make_shared<const Lattice<S>>(S{}, extents);
        auto psi = test::random_spinor(extents, 26);
        for (std::size_t i = 0; i < 12; ++i) psi.values[i] *= 1e-30, psi.values[12 + i] = 0;  // tiny on one site, 0 on another
        for (const auto parity : {Parity::even, Parity::odd}) {
            const auto back = this->stored(this->loaded(lattice, psi, parity), extents, parity);
            const auto expected = only(parity, psi);
            for (index_t x = 0; x < extents.volume(); ++x) {
                double scale = 0;
                for (int i = 0; i < 12; ++i) {
                    const auto value = expected.at(x, i / 3, i % 3);
                    scale = std::max({scale, std::abs(value.real()), std::abs(value.imag())});
                }
                for (int i = 0; i < 12; ++i) {
                    const auto value = expected.at(x, i / 3, i % 3), got = back.at(x, i / 3, i % 3);
                    if (P == Precision::double_) {
                        EXPECT_EQ(got, value);
                    }
                    // single: one rounding; half: of the site's largest number, and that of the scale, a float
                    const double bound = P == Precision::single ? std::abs(value) * 0x1p-24 : scale * (0x1p-16 * 1.01) * std::sqrt(2.);
                    EXPECT_LE(std::abs(got - value), bound) << x;
                }
            }
            SpinorField kept = psi;  // the other parity of the destination must not change
            store(this->loaded(lattice, poison(extents), parity), parity, kept);
            for (std::size_t i = 0; i < kept.values.size(); ++i) {
                const bool stored = psi.extents.site(static_cast<index_t>(i / 12)).parity() == parity;
                if (stored)
                    EXPECT_TRUE(std::isnan(kept.values[i].real()));
                else
                    EXPECT_EQ(kept.values[i], psi.values[i]);
            }
        }
    }
}

/// The contract is the same on every space.
TYPED_TEST(DiracTest, RefusesWhatDoesNotFit) {
    using On = typename TestFixture::On;
    constexpr auto P = TestFixture::own;
    using Operator = Dirac<On, P>;
    const Extents n{{4, 4, 4, 4}}, longer{{4, 4, 4, 8}};
    const auto links = links_on(On{}, test::random_gauge(n, 1));
    const auto here = std::make_shared<const Lattice<On>>(On{}, n), other = std::make_shared<const Lattice<On>>(On{}, longer);
    EXPECT_THROW(Operator(other, links, nullptr, Boundary::periodic, {}), LogicError);
    if (P == Precision::double_) {
        EXPECT_THROW(Operator(here, links, nullptr, Boundary::periodic, {.half = true}), LogicError);
    }

    const Operator D(here, links, nullptr, Boundary::periodic, {});
    Field<On, P> in(here), out(here), wrong(other);
    EXPECT_THROW(D.hop(HopForm::plain, Parity::even, false, 1, in, nullptr, wrong), LogicError);
    EXPECT_THROW(D.hop(HopForm::plain, Parity::even, false, 1, wrong, nullptr, out), LogicError);
    EXPECT_THROW(D.hop(HopForm::plain, Parity::even, false, 1, in, &wrong, out), LogicError);
    EXPECT_THROW(D.hop(HopForm::plain, Parity::even, false, 1, in, nullptr, in), LogicError);
    EXPECT_THROW(D.hop(HopForm::clover, Parity::even, false, 1, in, nullptr, out), LogicError);
    EXPECT_THROW(D.clover(Parity::even, false, in, wrong), LogicError);
    EXPECT_THROW(convert(in, wrong), LogicError);
    SpinorField shorter(n);
    EXPECT_THROW(load(shorter, Parity::even, wrong), LogicError);
    EXPECT_THROW(store(wrong, Parity::even, shorter), LogicError);
}

TYPED_TEST(DiracTest, ConvertsBetweenPrecisions) {
    using S = typename TypeParam::Space;
    constexpr Precision P = TypeParam::precision;
    for (const auto& extents : shapes) {
        const auto lattice = std::make_shared<const Lattice<S>>(S{}, extents);
        const auto psi = test::random_spinor(extents, 27);
        const auto from = this->loaded(lattice, psi, Parity::odd);
        const auto as_it_is = this->stored(from, extents, Parity::odd);
        const auto expect = [&]<Precision To>(std::integral_constant<Precision, To>) {
            Field<S, To> to(lattice);
            convert(from, to);
            SpinorField back(extents);
            store(to, Parity::odd, back);
            // One rounding to the coarser precision, for the whole field smaller than for the largest number.
            const bool exact = To == P || To == Precision::double_;
            EXPECT_LE(reference::relative_difference(back, as_it_is), exact ? 0x1p-24 : 2 * this->roundoff(To)) << name(To);
        };
        expect(std::integral_constant<Precision, Precision::double_>());
        expect(std::integral_constant<Precision, Precision::single>());
        expect(std::integral_constant<Precision, Precision::half>());
    }
}

}  // namespace
}  // namespace kasane::lattice
