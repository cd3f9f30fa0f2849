// The variant `plain`, compiled once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/direct/direct.body.hpp>
#include <kasane/gravity/direct/variants.hpp>

namespace kasane::gravity::detail {

template <Space S>
void direct_plain(S on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out,
                  View<const double> softening) {
    const auto softened = [&]<PairSoftening form>() {
        if (options.precision == Precision::single_)
            parallel_for(on, targets.n, PlainSoftened<float, form>{targets, softening, sources, self, out, options.softening, options.G});
        else
            parallel_for(on, targets.n, PlainSoftened<double, form>{targets, softening, sources, self, out, options.softening, options.G});
    };
    const auto form = pair_softening(options);
    if (form == PairSoftening::plummer) return softened.template operator()<PairSoftening::plummer>();
    if (form == PairSoftening::spline) return softened.template operator()<PairSoftening::spline>();
    if (options.precision == Precision::single_)
        parallel_for(on, targets.n, PlainDirect<float>{targets, sources, self, out, options.softening, options.G});
    else
        parallel_for(on, targets.n, PlainDirect<double>{targets, sources, self, out, options.softening, options.G});
}

template void direct_plain(KS_SPACE, const Direct&, View<const Vec3<double>>, const Sources&, Self, const Field&, View<const double>);

}  // namespace kasane::gravity::detail
