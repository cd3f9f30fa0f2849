// lattice.dslash: one hop of the Wilson and of the clover operator, in every precision and storage of the links.
#include <bench/lattice/lattice_studies.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/solve/fields.hpp>
#include <kasane/lattice/gauge/temporal_gauge.hpp>
#include <kasane/lattice/observe/sources.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace kasane::bench {

using namespace lattice;

namespace {

struct Hop {
    const char* name;
    HopForm form;
    double flops;
};
constexpr Hop wilson{"wilson", HopForm::plain, wilson_flops}, clover{"clover", HopForm::inverse, clover_flops},
    whole{"operator", HopForm::clover, clover_flops};  // of both parities, the others of one

struct Storage {
    Precision precision;
    LinkStorage links;
};
constexpr Storage exact{Precision::double_, {}};

/// |a - b| / |b| over the even sites.
double distance(const SpinorField& a, const SpinorField& b) {
    double difference = 0, size = 0;
    for (index_t site = 0; site < b.extents.volume(); ++site) {
        if (b.extents.site(site).parity() == Parity::odd) continue;
        for (int i = 0; i < 12; ++i) {
            const auto k = static_cast<std::size_t>(12 * site + i);
            difference += std::norm(a.values[k] - b.values[k]);
            size += std::norm(b.values[k]);
        }
    }
    return std::sqrt(difference / size);
}

/// Links, clover term and source on a space, and the results of the hops in double precision.
template <Space S>
class Volume {
   public:
    Volume(S on, const GaugeField& links)
        : on_(on),
          extents_(links.extents),
          lattice_(std::make_shared<const Lattice<S>>(on, extents_)),
          links_(links_on(on, links)),
          term_(clover_term(links_, benchmark_operator.kappa * benchmark_operator.csw)),
          source_(random_source(extents_, 2)) {}

    BenchmarkResult row(const std::string& name, const Hop& hop, const Storage& storage, const MemorySpeed& speed) {
        try {
            if (storage.precision == Precision::double_) return measured<Precision::double_>(name, hop, storage.links, speed);
            if (storage.precision == Precision::single) return measured<Precision::single>(name, hop, storage.links, speed);
            return measured<Precision::half>(name, hop, storage.links, speed);
        } catch (const Error& error) {
            return absent_hop(name, extents_, error.what());
        }
    }

   private:
    /// A quark field, and its image.
    template <Precision P>
    struct Fields {
        Field<S, P> even, odd, even_out, odd_out;
        explicit Fields(const std::shared_ptr<const Lattice<S>>& lattice)
            : even(lattice), odd(lattice), even_out(lattice), odd_out(lattice) {}
    };
    template <Precision P>
    static void apply(const Dirac<S, P>& dirac, const Hop& hop, Fields<P>& f) {
        if (hop.form == HopForm::clover)
            dirac.whole(false, -benchmark_operator.kappa, f.even, f.odd, f.even_out, f.odd_out);
        else
            dirac.hop(hop.form, Parity::even, false, 1, f.odd, nullptr, f.even_out);
    }
    template <Precision P>
    SpinorField applied(const Dirac<S, P>& dirac, const Hop& hop, Fields<P>& f) {
        load(source_, Parity::even, f.even);
        load(source_, Parity::odd, f.odd);
        apply(dirac, hop, f);
        SpinorField result(extents_);
        store(f.even_out, Parity::even, result);
        return result;
    }

    const SpinorField& reference(const Hop& hop) {
        auto& kept = reference_[static_cast<int>(hop.form)];
        if (!kept) {
            const Dirac<S, Precision::double_> dirac(lattice_, links_, &term_, benchmark_operator.boundary, exact.links);
            Fields<Precision::double_> fields(lattice_);
            kept = applied(dirac, hop, fields);
        }
        return *kept;
    }

    template <Precision P>
    BenchmarkResult measured(const std::string& name, const Hop& hop, const LinkStorage& links, const MemorySpeed& speed) {
        const auto& right = reference(hop);
        const Dirac<S, P> dirac(lattice_, links_, &term_, benchmark_operator.boundary, links);
        Fields<P> fields(lattice_);
        BenchmarkResult row;
        row.error = distance(applied(dirac, hop, fields), right);
        const auto timing = time_calls(on_, [&] { apply(dirac, hop, fields); });
        const bool both = hop.form == HopForm::clover;
        const auto sites = static_cast<double>(both ? extents_.volume() : extents_.half());
        const double bytes = both ? bytes_of_whole(dirac) : dirac.bytes_per_site(hop.form, false);
        row.name = name;
        row.n = extents_.volume();
        row.seconds = timing.seconds, row.spread = timing.spread;
        row.rate = hop.flops * sites / timing.seconds;
        row.unit = "flop/s";
        row.tflops = 1e-12 * row.rate;
        row.bound = speed.triad * hop.flops / bytes;
        row.bound_reason = "each storage's flop per byte, every neighbour's spinor read once, at the speed of the memory: " + words(speed);
        row.more = {{"gflops", 1e-9 * row.rate},
                    {"bytes_per_site", bytes},
                    {"bandwidth", bytes * sites / timing.seconds},
                    {"L", static_cast<double>(extents_[0])}};
        return row;
    }

    /// Per site. A CPU reads links and spinors once for both parities.
    template <Precision P>
    static double bytes_of_whole(const Dirac<S, P>& dirac) {
        if constexpr (!std::same_as<S, Cpu>) return dirac.bytes_per_site(HopForm::clover, true);
        const double plain = dirac.bytes_per_site(HopForm::plain, false), field = dirac.bytes_per_site(HopForm::plain, true) - plain;
        return dirac.bytes_per_site(HopForm::clover, false) - (plain - 2 * field) / 2;
    }

    S on_;
    Extents extents_;
    std::shared_ptr<const Lattice<S>> lattice_;
    Links<S> links_;
    CloverTerm<S> term_;
    SpinorField source_;
    std::optional<SpinorField> reference_[3];  ///< by form
};

std::vector<Storage> storages() {
    std::vector<Storage> all;
    for (const auto precision : {Precision::double_, Precision::single, Precision::half})
        for (const auto reals : {LinkReals::all, LinkReals::two_rows, LinkReals::parameters}) all.push_back({precision, {reals}});
    all.push_back({Precision::single, {LinkReals::all, true}});
    all.push_back({Precision::single, {LinkReals::two_rows, true}});
    return all;
}

/// Memory that a study of this volume takes on the space: links, clover term, one operator of doubles, four fields.
constexpr double bytes_per_site = 8 * (72 + 144 + 72 + 144 + 96);

void check_memory(const AnySpace& on, const Extents& extents) {
    const double needed = bytes_per_site * static_cast<double>(extents.volume()), there = static_cast<double>(available_memory(on));
    KS_VALIDATE(needed < there, fmt::format("{} sites need {:.3g} GiB on {}, and {:.3g} are free", text(extents), needed / (1 << 30),
                                            name(on), there / (1 << 30)));
}

template <Space S>
void every_storage(const BenchmarkContext& context, LatticeProblems& problems, S on, const Extents& extents) {
    const auto label = threads_label(on);
    try {
        check_memory(on, extents);
        const auto& links = problems.weak(extents);
        const auto& speed = problems.speed(on);
        {
            Volume<S> volume(on, links);
            for (const auto& hop : {wilson, clover, whole})
                for (const auto& storage : storages())
                    context.report(
                        volume.row(fmt::format("lattice.dslash, {}, {}{}", hop.name, name(storage.precision, storage.links), label), hop,
                                   storage, speed));
        }
        Volume<S> volume(on, temporal_gauge(links).links);
        for (const auto precision : {Precision::single, Precision::half})
            for (const auto& hop : {wilson, clover}) {
                const Storage storage{precision, {LinkReals::two_rows, false, true}};
                context.report(volume.row(fmt::format("lattice.dslash, {}, {}{}", hop.name, name(precision, storage.links), label), hop,
                                          storage, speed));
            }
    } catch (const Error& error) {
        context.report(absent_hop("lattice.dslash, " + text(extents) + label, extents, error.what()));
    }
}

/// The talk's curve: the clover operator against the volume.
template <Space S>
void hops_by_volume(const BenchmarkContext& context, LatticeProblems& problems, S on) {
    for (const auto& extents : curve_volumes(context)) try {
            check_memory(on, extents);
            Volume<S> volume(on, problems.weak(extents));
            for (const auto& storage :
                 {exact, Storage{Precision::single, {LinkReals::two_rows}}, Storage{Precision::half, {LinkReals::two_rows}}})
                context.report(volume.row(fmt::format("lattice.dslash, by volume, clover, {}", name(storage.precision, storage.links)),
                                          clover, storage, problems.speed(on)));
        } catch (const Error& error) {
            context.report(absent_hop("lattice.dslash, by volume", extents, error.what()));
        }
}

}  // namespace

Benchmark lattice_dslash(const SharedLattice& shared) {
    return {
        "lattice.dslash",
        "One hop from the odd sites to the even ones: `wilson` H (1320 flop a site), `clover` A^-1 H (1824, A inverted as it is read); "
        "`operator`: A - kappa H on both parities (1824). For every precision of the fields and storage of the links: 18, 12 or 8 real "
        "numbers; `half links` are 16-bit ones under fields in single precision; `temporal gauge` does not read U_t. Links U = exp(0.3 i "
        "P), "
        "antiperiodic time, c_sw = 1. 16^4 on a CPU (one thread, all threads), 32^3 x 64 on a device, `--n L` for L^4; n counts all sites. "
        "`by volume`: the talk's curve ([Ish09], slides 29 to 31). The bound is the triad of this run times the flop per byte of the "
        "storage "
        "with every neighbour's spinor read once (`bytes_per_site`): caches exceed it where a volume fits. The error is |difference| / "
        "|result| against double precision with 18 numbers.",
        [shared](const BenchmarkContext& context) {
            for (const auto& extents : volumes_or(context, main_volume(context.space)))
                for (const auto& on : with_threads(context.space))
                    std::visit([&]<Space S>(S space) { every_storage(context, *shared, space, extents); }, on);
            std::visit([&]<Space S>(S space) { hops_by_volume(context, *shared, space); }, context.space);
            shared->clear();
        }};
}

}  // namespace kasane::bench
