// Each index has one target and one share of the runs of sources; neighbouring indices have neighbouring targets and read the same source.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/direct/audit_sum.hpp>

#include <cmath>

namespace kasane::gravity {
namespace {

struct SumRuns {
    View<const Vec3<double>> target;
    Sources own;
    double softening2;
    Bins<3> bins;
    index_t run, shares;
    View<AuditSum> out;

    KS_FN void operator()(index_t k) const {
        const auto x = target[k % target.n];
        const index_t n = own.position.n;
        AuditSum sum;
        for (index_t first = k / target.n * run; first < n; first += shares * run) {
            const index_t end = first + run < n ? first + run : n;
            Vec3<double> a;
            for (index_t j = first; j < end; ++j) {
                const auto d = own.position[j] - x;
                const double r2 = dot(d, d) + softening2;
                if (r2 > 0) a += own.mass[j] / (r2 * std::sqrt(r2)) * d;
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
void audit_sums(S on, View<const Vec3<double>> target, const Sources& own, double softening, const Bins<3>& bins, index_t run,
                View<AuditSum> out) {
    if (target.n == 0) return;
    parallel_for(on, out.n, SumRuns{target, own, softening * softening, bins, run, out.n / target.n, out});
}

template void audit_sums(KS_SPACE, View<const Vec3<double>>, const Sources&, double, const Bins<3>&, index_t, View<AuditSum>);

}  // namespace kasane::gravity
