#include <kasane/lattice/solve/options.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/threads.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::lattice {
namespace {

double size_of(Precision precision) { return precision == Precision::double_ ? 8 : precision == Precision::single ? 4 : 2; }

/// Bytes of one parity's field, per site of the whole lattice; half has a scale per site.
double field_bytes(Precision precision) { return (24 * size_of(precision) + (precision == Precision::half ? 4 : 0)) / 2; }

/// Bytes of links and clover term, whose two chiral blocks have a scale each in half.
double operator_bytes(Precision precision, const LinkStorage& links, bool clover) {
    const double link = links.half ? 2 : size_of(precision);
    return 4 * static_cast<int>(links.reals) * link + (clover ? 72 * size_of(precision) + (precision == Precision::half ? 8 : 0) : 0);
}

/// Before links and clover term are packed: links in the host's order and in that of the space, then links and clover term.
constexpr double setup_bytes = 72 * 8 * 2;

/// The largest distance of a link from SU(3); infinite where a number is not finite.
double worst_link(const GaugeField& links) {
    double worst = 0;
    const auto count = static_cast<index_t>(links.links.size());
#pragma omp parallel for num_threads(default_thread_count()) reduction(max : worst)
    for (index_t i = 0; i < count; ++i) {
        const double distance = distance_from_su3(links.links[static_cast<std::size_t>(i)]);
        worst = std::max(worst, std::isfinite(distance) ? distance : std::numeric_limits<double>::infinity());
    }
    return worst;
}

}  // namespace

const char* name(Method method) {
    switch (method) {
        case Method::nested_bicgstab: return "nested-bicgstab";
        case Method::bicgstab: return "bicgstab";
        case Method::cg: return "cg";
        case Method::gcr: return "gcr";
        case Method::fgmres: return "fgmres";
        case Method::refinement: return "refinement";
        case Method::automatic: return "auto";
    }
    return "";
}

bool has_inner_solver(Method method) { return method != Method::cg && method != Method::bicgstab && method != Method::automatic; }

double inner_tolerance(const SolverOptions& options) {
    if (options.inner_rtol > 0) return options.inner_rtol;
    switch (options.inner) {
        case Precision::half: return 3e-4;
        case Precision::single: return 1e-5;
        case Precision::double_: return 1e-2;
    }
    return 0;
}

std::vector<InputProblem> problems_of(const DiracParameters& parameters) {
    std::vector<InputProblem> problems;
    if (!(parameters.kappa > 0 && std::isfinite(parameters.kappa)))
        problems.push_back(
            {fmt::format("kappa = {} must be positive and finite: it is 1 / (2 m + 8), at most a little above 0.125 for light "
                         "quarks",
                         parameters.kappa),
             {}});
    if (!(parameters.csw >= 0 && std::isfinite(parameters.csw)))
        problems.push_back({fmt::format("csw = {} must be finite and not negative; 0 leaves the clover term out", parameters.csw), {}});
    return problems;
}

void check_solver(const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options) {
    check_extents(links.extents, {"", 0, 0, "the gauge field"});
    auto problems = problems_of(parameters);
    const auto expect = [&](bool good, const std::string& message) {
        if (!good) problems.push_back({message, {}});
    };
    if (static_cast<index_t>(links.links.size()) != 4 * links.extents.volume())
        throw InputError(fmt::format("the gauge field has {} links, not the {} of a {} lattice", links.links.size(),
                                     4 * links.extents.volume(), text(links.extents)));
    expect(options.rtol > 0 && options.rtol < 1, fmt::format("rtol = {} must lie between 0 and 1", options.rtol));
    expect(options.inner_rtol == 0 || (options.inner_rtol > 0 && options.inner_rtol < 1),
           fmt::format("inner_rtol = {} must lie between 0 and 1; 0 chooses it", options.inner_rtol));
    expect(options.iteration_limit >= 1, fmt::format("iteration_limit = {} must be at least 1", options.iteration_limit));
    const bool keeps = options.method == Method::gcr || options.method == Method::fgmres;
    expect(!keeps || (options.krylov_length >= 2 && options.krylov_length <= 1000),
           fmt::format("krylov_length = {} must lie between 2 and 1000: it is the number of pairs of vectors", options.krylov_length));
    expect(!options.outer_links.half, "the outer operator is in double: its links cannot be half precision; give that to the inner links");
    expect(!(options.inner_links.half && options.inner == Precision::double_),
           "the inner operator is in double: its links cannot be half precision; take inner = half or single");
    if (options.schwarz.method != SchwarzMethod::none) {
        expect(
            has_inner_solver(options.method),
            fmt::format("{} has no preconditioner: a Schwarz preconditioner needs a flexible method. Take gcr, fgmres, nested-bicgstab or "
                        "refinement",
                        name(options.method)));
        for (const auto& problem : problems_of(chosen(options.schwarz, links.extents), links.extents)) expect(false, problem);
    }
    if (options.coherent.vectors != 0) {
        expect(has_inner_solver(options.method),
               fmt::format("{} has no preconditioner: inexact deflation needs a flexible method. Take gcr, fgmres, nested-bicgstab or "
                           "refinement",
                           name(options.method)));
        for (const auto& problem : problems_of(chosen(options.coherent, links.extents), links.extents)) expect(false, problem);
    }
    const double distance = worst_link(links);
    const bool rebuilt =
        options.outer_links.reals != LinkReals::all || (options.inner != Precision::double_ && options.inner_links.reals != LinkReals::all);
    if (!std::isfinite(distance)) {
        expect(false, "some link is not finite (NaN or infinity): the gauge field is damaged");
    } else {
        // Links of a file in single precision deviate by 1e-7 at most.
        expect(!rebuilt || distance < 1e-5,
               fmt::format("some link is {:.1e} away from SU(3): 12 or 8 stored numbers would give another link. Reunitarise the field, or "
                           "store 18 numbers (--inner-links 18, in C++ LinkReals::all)",
                           distance));
    }
    if (!problems.empty()) throw InputError(std::move(problems));
}

bool solves_columns(const SolverOptions& options) {
    if (options.method == Method::automatic || options.method == Method::bicgstab) return options.inner != Precision::double_;
    return options.method == Method::nested_bicgstab && options.schwarz.method == SchwarzMethod::none && options.coherent.vectors == 0;
}

double column_bytes_per_site(const SolverOptions& options, int columns) {
    if (columns < 2 || !solves_columns(options)) return 0;
    // Double: b and x of both parities, the system's right-hand side, the hop between the parities, vectors of the method: six of nested
    // BiCGStab, two for reliable updates; inner: five vectors, the correction, the hop between the parities.
    const int of_method = options.method == Method::nested_bicgstab ? 6 : 2;
    return columns * ((6 + of_method) * field_bytes(Precision::double_) + 7 * field_bytes(options.inner));
}

int columns_at_once(const AnySpace& on, const Extents& extents, const DiracParameters& parameters, const SolverOptions& options,
                    int wanted) {
    // On a CPU the arithmetic limits a hop, not the links that columns share, and the vectors of several columns leave the caches: 12^4 on
    // a core of an AMD EPYC takes 0.97 to 1.01 of the time for two columns, 1.13 to 1.36 for twelve (docs/lattice-columns.md).
    if (!solves_columns(options) || std::holds_alternative<Cpu>(on)) return 1;
    const double sites = static_cast<double>(extents.volume()), there = static_cast<double>(available_memory(on));
    int columns = std::max(wanted, 1);
    for (; columns > 1; --columns)
        if (memory_per_site(parameters, options, extents, columns).device * sites <= 0.95 * there) break;
    // As equal numbers as possible: 12 columns of which 8 fit are solved in two parts of 6.
    const int parts = (wanted + columns - 1) / columns;
    return std::max(1, (wanted + parts - 1) / parts);
}

Precision default_inner_precision(const AnySpace& on, const Extents& extents) {
    constexpr index_t few_sites = 24'576;  // all blocks of a hop of few sites run at the same time (dirac/cuda/hop_rows.hpp)
    return !std::holds_alternative<Cpu>(on) && extents.volume() <= few_sites ? Precision::single : Precision::half;
}

double kept_bytes_per_site(const SolverOptions& options) { return solves_columns(options) ? 0 : 12 * 2 * field_bytes(Precision::double_); }

bool keeps_solutions(const AnySpace& on, const Extents& extents, const DiracParameters& parameters, const SolverOptions& options) {
    if (std::holds_alternative<Cpu>(on) || options.outer_links.temporal_gauge || options.inner_links.temporal_gauge) return false;
    const int together = solves_columns(options) ? 12 : 1;
    const double needed = memory_per_site(parameters, options, extents, together).device + kept_bytes_per_site(options);
    return needed * static_cast<double>(extents.volume()) <= 0.95 * static_cast<double>(available_memory(on));
}

BlockMemory block_memory(const DiracParameters& parameters, const SolverOptions& options, const BlockGrid& grid) {
    const double extended = static_cast<double>(grid.extended.volume()) / static_cast<double>(grid.own.volume());
    auto links = options.inner_links;
    if (links.reals == LinkReals::parameters) links.reals = LinkReals::two_rows;
    // On a device all blocks of a colour are one batch, with fields of its own, and stacked before they are packed.
    const double batch = extended / grid.colours, field = field_bytes(options.inner);
    return {extended * (operator_bytes(options.inner, links, parameters.csw != 0) + field + 4) + 4 * batch * field, setup_bytes * batch};
}

MemoryPerSite memory_per_site(const DiracParameters& parameters, const SolverOptions& options, const Extents& extents, int columns) {
    constexpr auto outer = Precision::double_;
    const bool clover = parameters.csw != 0, mixed = options.inner != outer;
    const bool cg = options.method == Method::cg;
    double operators = operator_bytes(outer, options.outer_links, clover);
    if (mixed) operators += operator_bytes(options.inner, options.inner_links, clover);
    // b and x of both parities, the system's right-hand side, a residual, the hop between the parities; A_ee^-1 r for the adjoint.
    int high = 4 + 3 + (cg ? 1 : 0), low = 6 + (mixed ? 1 + (cg ? 1 : 0) : 0);
    switch (options.method) {
        case Method::nested_bicgstab: high += 6; break;
        case Method::automatic:
        case Method::bicgstab: mixed ? high += 2 : (high += 5, low = 0); break;
        case Method::cg:
        case Method::refinement: high += 2; break;
        case Method::gcr:
        case Method::fgmres: high += 2 * options.krylov_length + 1; break;
    }
    const double fields = high * field_bytes(outer) + low * field_bytes(options.inner);
    double setup = setup_bytes;
    if (options.schwarz.method != SchwarzMethod::none) {
        const auto schwarz = chosen(options.schwarz, extents);
        KS_REQUIRE(extents.volume() > 0 && problems_of(schwarz, extents).empty(),
                   "the memory of a Schwarz preconditioner depends on the extents of the lattice: give those that its blocks divide");
        const auto blocks = block_memory(parameters, options, block_grid(extents, schwarz));
        operators += blocks.kept;
        low += 4;
        setup += blocks.setup;
    }
    if (options.coherent.vectors != 0) {
        KS_REQUIRE(extents.volume() > 0 && problems_of(chosen(options.coherent, extents), extents).empty(),
                   "the memory of inexact deflation depends on the extents of the lattice: give those that its blocks divide");
        // Beside basis and little operator four fields; during the set-up the near-null vectors and the fields of BiCGStab for four of
        // them (on a CPU for one), with links and clover term.
        constexpr int setup_fields = 28;
        // The inverses of diagonal blocks are computed in double.
        const auto coherent = chosen(options.coherent, extents);
        const double rows = 16 * ((coherent.vectors + 7) / 8), wide = mixed ? 1 : 2;
        const double block = 1. * coherent.block[0] * coherent.block[1] * coherent.block[2] * coherent.block[3];
        const double little_fields = 8 * wide * rows / block * 75;  // two for each vector of the little system's GCR, and a few
        operators += wide * coherent_bytes_per_site(options.coherent, extents) + 4 * field_bytes(options.inner) + little_fields;
        setup += (options.coherent.vectors + setup_fields + low) * field_bytes(options.inner) + 2 * field_bytes(outer) +
                 16 * rows * rows / block;
    }
    const bool rotates = options.outer_links.temporal_gauge || (mixed && options.inner_links.temporal_gauge);
    MemoryPerSite memory;
    memory.device = operators + std::max(setup, fields) + column_bytes_per_site(options, columns);
    // The caller's links, b and x; links kept for a change of precision; rotated links, transformation, b and x.
    memory.host = 576 + 2 * 192. * columns + (options.inner == Precision::half ? 576 : 0) + (rotates ? 576 + 144 + 2 * 192 : 0);
    return memory;
}

void check_memory(const AnySpace& on, const Extents& extents, const DiracParameters& parameters, const SolverOptions& options,
                  const LocalMemory& local) {
    auto memory = memory_per_site(parameters, options, extents);
    const double sites = static_cast<double>(extents.volume());
    memory.device += local.halo / sites;
    const auto check = [&](double per_site, const AnySpace& where, const char* what) {
        const int sharing = std::holds_alternative<Cpu>(where) ? local.sharing : 1;
        const double needed = per_site * sites, there = static_cast<double>(available_memory(where)) / sharing;
        constexpr double mib = 1 << 20;
        KS_VALIDATE(needed <= there,
                    fmt::format("the solver of a {} lattice needs about {:.0f} MiB ({:.0f} bytes per site) of {}, and {:.0f} "
                                "MiB are free{}. Take a smaller lattice, a shorter krylov_length, or a device with more memory",
                                text(extents), needed / mib, per_site, what, there / mib,
                                sharing > 1 ? fmt::format(" for each of the {} workers of this host", sharing) : ""));
    };
    const double callers = 576 + 2 * 192;  // already allocated
    const bool host = std::holds_alternative<Cpu>(on);
    check(memory.device + (host ? memory.host - callers : 0), on, host ? "memory" : "the device's memory");
    if (!host) check(memory.host - callers, Cpu{}, "the host's memory");
}

}  // namespace kasane::lattice
