// Each index has one target and one share of the runs of sources; neighbouring indices have neighbouring targets and read the same source.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/direct/audit_sum.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <cmath>

namespace kasane::gravity {
namespace {

/// @tparam form  one of `none` (one Plummer softening, any value), `plummer` and `spline`
template <detail::PairSoftening form>
struct SumRuns {
    View<const Vec3<double>> target;
    View<const double> target_softening;
    Sources own;
    double softening;
    Bins<3> bins;
    index_t run, shares;
    View<AuditSum> out;

    KS_FN void operator()(index_t k) const {
        const auto x = target[k % target.n];
        const index_t n = own.position.n;
        const double softening2 = softening * softening;
        const double term = softening_term(target_softening.empty() ? softening : target_softening[k % target.n]);
        AuditSum sum;
        for (index_t first = k / target.n * run; first < n; first += shares * run) {
            const index_t end = first + run < n ? first + run : n;
            Vec3<double> a;
            for (index_t j = first; j < end; ++j) {
                const auto d = own.position[j] - x;
                if constexpr (detail::own_softening(form)) {
                    const double eps2 = term + softening_term(own.softening.empty() ? softening : own.softening[j]);
                    a += own.mass[j] * detail::softened_pair<form>(dot(d, d), eps2).force * d;
                } else {
                    const double r2 = dot(d, d) + softening2;
                    if (r2 > 0) a += own.mass[j] / (r2 * std::sqrt(r2)) * d;
                }
            }
            sum.x.add(bins, a.x);
            sum.y.add(bins, a.y);
            sum.z.add(bins, a.z);
        }
        out[k] = sum;
    }
};

}  // namespace

template <Space S>
void audit_sums(S on, View<const Vec3<double>> target, View<const double> softening, const Sources& own, const Direct& options,
                const Bins<3>& bins, index_t run, View<AuditSum> out) {
    if (target.n == 0) return;
    const auto sums = [&]<detail::PairSoftening form>() {
        parallel_for(on, out.n, SumRuns<form>{target, softening, own, options.softening, bins, run, out.n / target.n, out});
    };
    using enum detail::PairSoftening;
    const auto form = detail::pair_softening(options);
    if (form == plummer) return sums.template operator()<plummer>();
    if (form == spline) return sums.template operator()<spline>();
    sums.template operator()<none>();
}

template void audit_sums(KS_SPACE, View<const Vec3<double>>, View<const double>, const Sources&, const Direct&, const Bins<3>&, index_t,
                         View<AuditSum>);

}  // namespace kasane::gravity
