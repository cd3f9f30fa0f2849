// Grids and cycle of the multigrid of a box, once per Space.
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/multigrid/box_multigrid.body.hpp>
#include <kasane/sparse/multigrid/box_multigrid.hpp>
#include <kasane/sparse/multigrid/restrict_lines.hpp>
#include <kasane/sparse/poisson/box.hpp>

#if defined(__CUDACC__)
#include <kasane/sparse/multigrid/device_sums.cuda.hpp>
#include <kasane/sparse/multigrid/few_cells.cuda.hpp>
#include <kasane/sparse/multigrid/restrict_pairs.cuda.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace kasane::sparse {
using namespace box;
namespace {

constexpr index_t coarsest_cells = 64;
constexpr int coarsest_sweeps = 4;  ///< of Gauss-Seidel, forward and as many backward

/// Conductances of the faces of that number across each direction.
struct SumOfFaces {
    BoxCells cells;
    BoxFaces<float> faces;
    KS_FN Terms<3> operator()(index_t i) const {
        Terms<3> terms{};
        for (int d = 0; d < 3; ++d)
            if (i < cells.faces(d)) terms[d] = static_cast<double>(faces.face[d][i]);
        return terms;
    }
};

/// @tparam Faces  BoxFaces<double> in one of its forms
template <class Faces>
struct OfBox {
    Faces A;
    const double* in;
    double* out;
    /// Returns the term of in.out.
    KS_FN double operator()(int i, int j, int k) const {
        double neighbours, diagonal;
        A.row(in, i, j, k, neighbours, diagonal);
        const index_t c = A.cells.cell(i, j, k);
        const double own = in[c], image = diagonal * own - neighbours;
        out[c] = image;
        return own * image;
    }
};

template <Space S>
std::array<Buffer<float, S>, 3> scaled_faces(S on, const BoxFaces<double>& faces, double unit) {
    std::array<Buffer<float, S>, 3> scaled;
    for (int d = 0; d < 3; ++d) {
        auto& face = scaled[static_cast<std::size_t>(d)];
        face = Buffer<float, S>(on, faces.cells.faces(d));
        parallel_for(on, face.size(), ScaledFace{faces.face[d], 1 / unit, face.data()});
    }
    return scaled;
}

}  // namespace

template <Space S>
BoxCycle<S>::BoxCycle(S on, const BoxCells& cells, std::array<Buffer<float, S>, 3> faces) : on_(on) {
    auto& finest = grids_.emplace_back();
    finest.cells = cells;
    for (std::size_t d = 0; d < 3; ++d) finest.face[d] = std::move(faces[d]);
    while (add_coarse()) {
    }
    for (auto& grid : grids_) {
        for (auto* vector : {&grid.x, &grid.b}) *vector = Buffer<float, S>(on_, grid.cells.count());
        for (auto* half : {&grid.r, &grid.inverse}) *half = Buffer<float, S>(on_, grid.cells.places_of_colour());
        for_each_of_colour(on_, grid.cells, 0, InverseDiagonal{grid.faces(), grid.inverse.data()});
    }
    synchronize(on_);
}

template <Space S>
bool BoxCycle<S>::add_coarse() {
    auto& fine = grids_.back();
    if (fine.cells.count() <= coarsest_cells) return false;
    const Terms<3> sums =
        sum<3>(on_, std::max({fine.face[0].size(), fine.face[1].size(), fine.face[2].size()}), SumOfFaces{fine.cells, fine.faces()});
    double mean[3];
    for (int d = 0; d < 3; ++d) mean[d] = sums[d] / static_cast<double>(fine.face[d].size());
    Grid coarse;
    coarse.cells = joined_cells(fine.cells, mean, fine.line);
    if (coarse.cells.count() == fine.cells.count()) return false;  // no conductance is above 0
    for (int d = 0; d < 3; ++d) {
        coarse.face[d] = Buffer<float, S>(on_, coarse.cells.faces(d));
        for_each_cell(on_, box_of_faces(coarse.cells, d),
                      CoarseFace{fine.faces(), coarse.cells, {fine.line[0], fine.line[1], fine.line[2]}, d, coarse.face[d].data()});
        if (!fine.line[d].joins()) continue;
        fine.share[d] = Buffer<float, S>(on_, fine.cells.places_of_colour());
        for_each_of_colour(on_, fine.cells, 0, Share{fine.faces(), fine.line[d], d, fine.share[d].data()});
    }
    grids_.push_back(std::move(coarse));
    return true;
}

template <Space S>
void BoxCycle<S>::sweep_from_zero(S on, Grid& grid) const {
    with_faces(grid.faces(), [&](const auto& A) {
        for_each_pair(on, grid.cells, SweepFromZero<std::decay_t<decltype(A)>>{A, grid.inverse.data(), grid.b.data(), grid.x.data()});
    });
}

template <Space S>
void BoxCycle<S>::smooth(S on, Grid& grid, int colour) const {
    with_faces(grid.faces(), [&](const auto& A) {
        for_each_of_colour(on, grid.cells, colour, Smooth<std::decay_t<decltype(A)>>{A, grid.b.data(), grid.x.data()});
    });
}

/// Between a grid and the next one.
template <Space S>
box::Transfer BoxCycle<S>::transfer(std::size_t level) const {
    const auto& grid = grids_[level];
    return {grid.cells,
            grids_[level + 1].cells,
            {grid.line[0], grid.line[1], grid.line[2]},
            {grid.share[0].data(), grid.share[1].data(), grid.share[2].data()}};
}

namespace {
void restrict_to(Cpu on, const BoxCells& coarse, const Restrict& body) { restrict_planes(on, Planes{0, coarse.n[2]}, body); }
#if defined(__CUDACC__)
void restrict_to(Cuda on, const BoxCells& coarse, const Restrict& body) {
    if (restricts_pairs(body.by))
        run_restriction_of_pairs(on, body);
    else
        for_each_cell(on, coarse, body);
}
#endif
}  // namespace

#if defined(__CUDACC__)
/// Executes the cycle from a grid of few cells on. @return whether it is one
template <Space S>
bool BoxCycle<S>::cycle_of_few_cells(S on, std::size_t level) const {
    FewCellsCycle few{};
    if (grids_[level].cells.count() > few_cells || grids_.size() - level > most_few_grids) return false;
    for (; level < grids_.size(); ++level) {
        auto& grid = grids_[level];
        auto& to = few.grid[few.grids++];
        to = {grid.faces(), grid.inverse.data(), grid.x.data(), grid.b.data(), grid.r.data(), {}};
        if (level + 1 < grids_.size()) to.by = transfer(level);
    }
    few.coarsest_sweeps = coarsest_sweeps;
    run_few_cells(on, few);
    return true;
}
#endif

/// x = M^-1 b on this grid.
template <Space S>
void BoxCycle<S>::cycle(S on, std::size_t level) const {
#if defined(__CUDACC__)
    if (cycle_of_few_cells(on, level)) return;
#endif
    auto& grid = grids_[level];
    if (level + 1 == grids_.size()) {
        sweep_from_zero(on, grid);
        for (int sweep = 1; sweep < coarsest_sweeps; ++sweep) smooth(on, grid, 0), smooth(on, grid, 1);
        for (int sweep = 0; sweep < coarsest_sweeps; ++sweep) smooth(on, grid, 1), smooth(on, grid, 0);
        return;
    }
    auto& coarse = grids_[level + 1];
    const Transfer by = transfer(level);
    sweep_from_zero(on, grid);
    // Half of the cells are enough: the residual is zero in the others, and the next half sweep replaces their values.
    with_faces(grid.faces(), [&](const auto& A) {
        for_each_of_colour(on, grid.cells, 0, Residual<std::decay_t<decltype(A)>>{A, grid.b.data(), grid.x.data(), grid.r.data()});
    });
    restrict_to(on, coarse.cells, Restrict{by, grid.r.data(), coarse.b.data()});
    cycle(on, level + 1);
    with_faces(grid.faces(), [&](const auto& A) {
        for_each_of_colour(on, grid.cells, 0, Prolong<std::decay_t<decltype(A)>::goes_round>{by, coarse.x.data(), grid.x.data()});
    });
    smooth(on, grid, 1);
    smooth(on, grid, 0);
}

template <Space S>
std::vector<BoxCells> BoxCycle<S>::grids() const {
    std::vector<BoxCells> all;
    for (const auto& grid : grids_) all.push_back(grid.cells);
    return all;
}

template <Space S>
std::uint64_t BoxCycle<S>::bytes() const {
    index_t floats = 0;
    for (const auto& grid : grids_) {
        floats += grid.x.size() + grid.b.size() + grid.r.size() + grid.inverse.size();
        for (int d = 0; d < 3; ++d) floats += grid.face[d].size() + grid.share[d].size();
    }
    return sizeof(float) * static_cast<std::uint64_t>(floats);
}

template class BoxCycle<KS_SPACE>;

template <Space S>
BoxMultigrid<S>::BoxMultigrid(S on, const BoxOperator<S>& A, bool singular)
    : on_(on), singular_(singular), unit_(unit_of_conductances(A.largest())), cycle_(on, A.cells(), scaled_faces(on, A.faces(), unit_)) {
    synchronize(on);
}

template <Space S>
void BoxMultigrid<S>::apply(VectorAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const {
    // In units in which |in| is 1, whatever the units of the problem, so that floats keep their range.
    const double norm = std::sqrt(algebra.dot(in, in));
    const double unit = norm > 0 && std::isfinite(norm) ? std::ldexp(1., std::ilogb(norm)) : 1;
    parallel_for(on_, in.size(), Narrow{in.data(), 1 / unit, cycle_.b().ptr});
    cycle_.apply();
    parallel_for(on_, in.size(), Widen{cycle_.x().ptr, unit / unit_, out.data()});
    if (singular_) algebra.remove_mean(out);
}

#if defined(__CUDACC__)
namespace {

struct NarrowResidual {
    const CgScalars* s;
    const double* from;
    float* to;
    __device__ void operator()(index_t i) const { to[i] = static_cast<float>(s->per_unit * from[i]); }
};

/// z = M^-1 r and its sum.
struct WidenAndSum {
    const CgScalars* s;
    const float* from;
    double per_unit;
    double* to;
    double by = 0;
    __device__ WidenAndSum ready() const {
        WidenAndSum with = *this;
        with.by = s->unit_then * per_unit;
        return with;
    }
    __device__ double operator()(index_t i) const {
        const double z = by * static_cast<double>(from[i]);
        to[i] = z;
        return z;
    }
};

/// r.z
struct ProductWithResidual {
    const CgScalars* s;
    const float* from;
    const double* r;
    double per_unit;
    double by = 0;
    __device__ ProductWithResidual ready() const {
        ProductWithResidual with = *this;
        with.by = s->unit_then * per_unit;
        return with;
    }
    __device__ double operator()(index_t i) const { return r[i] * (by * static_cast<double>(from[i])); }
    __device__ double two(index_t pair) const {
        const double2 rs = reinterpret_cast<const double2*>(r)[pair];
        const float2 zs = reinterpret_cast<const float2*>(from)[pair];
        return rs.x * (by * static_cast<double>(zs.x)) + rs.y * (by * static_cast<double>(zs.y));
    }
};

/// r = unit b - A x; its square.
template <class Faces>
struct ResidualOfBox {
    Faces A;
    double unit;
    const double *b, *x;
    double* r;
    __device__ double operator()(int i, int j, int k) const {
        double neighbours, diagonal;
        A.row(x, i, j, k, neighbours, diagonal);
        const index_t c = A.cells.cell(i, j, k);
        const double left = unit * b[c] - (diagonal * x[c] - neighbours);
        r[c] = left;
        return left * left;
    }
};

}  // namespace

template <Space S>
void BoxMultigrid<S>::begin(ResidentCg& cg, const Buffer<double, S>& r) const
    requires std::same_as<S, Cuda>
{
    parallel_for(on_, r.size(), NarrowResidual{cg.scalars(), r.data(), single_residual()});
}

template <Space S>
void BoxMultigrid<S>::submit_direction(ResidentCg& cg, S on, const Buffer<double, S>& r, Buffer<double, S>& z, Buffer<double, S>& p) const
    requires std::same_as<S, Cuda>
{
    cycle_.apply(on);
    if (singular_) {
        device::remove_mean_then(on, WidenAndSum{cg.scalars(), cycle_.x().ptr, 1 / unit_, z.data()}, cg, r, z);
        cg.direction(on, z, p);
    } else {
        device::sum_then(on, r.size(), ProductWithResidual{cg.scalars(), cycle_.x().ptr, r.data(), 1 / unit_},
                         device::StoreTotal{&cg.scalars()->rz}, cg.sums());
        cg.direction(on, cycle_.x().ptr, 1 / unit_, p);
    }
}
#endif

template class BoxMultigrid<KS_SPACE>;

template <Space S>
BoxOperator<S>::BoxOperator(S on, const PoissonProblem& problem) : on_(on) {
    validate(problem);
    for (std::size_t d = 0; d < 3; ++d) {
        cells_.n[d] = static_cast<int>(problem.cells[d]);
        if (problem.periodic(d)) cells_.around[d] = cells_.n[d] - 1;
    }
    for (int d = 0; d < 3; ++d) {
        const auto faces = conductances_across(problem, d);
        for (const double g : faces) largest_ = std::max(largest_, g);
        face_[d] = to_space(on, faces);
    }
    synchronize(on_);
}

template <Space S>
BoxOperator<S>::BoxOperator(S on, ConductingFaces<S> faces) : on_(on), cells_(faces.cells), largest_(faces.largest) {
    for (std::size_t d = 0; d < 3; ++d) face_[d] = std::move(faces.across[d]);
}

template <Space S>
void BoxOperator<S>::apply(VectorAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const {
    for_each_cell(on_, cells_, OfBox<BoxFaces<double>>{faces(), in.data(), out.data()});
}

#if defined(__CUDACC__)
template <Space S>
void BoxOperator<S>::submit(ResidentCg& cg, S on, const Buffer<double, S>& in, Buffer<double, S>& out) const
    requires std::same_as<S, Cuda>
{
    with_faces(faces(), [&](const auto& A) {
        device::sum_cells_then(on, cells_, OfBox<std::decay_t<decltype(A)>>{A, in.data(), out.data()},
                               device::StoreTotal{&cg.scalars()->pAp}, cg.sums());
    });
}

template <Space S>
double BoxOperator<S>::residual(CgAlgebra<S>& algebra, double unit, const Buffer<double, S>& b, const Buffer<double, S>& x,
                                Buffer<double, S>& r) const
    requires std::same_as<S, Cuda>
{
    ResidentCg& cg = algebra.resident();
    with_faces(faces(), [&](const auto& A) {
        device::sum_cells_then(on_, cells_, ResidualOfBox<std::decay_t<decltype(A)>>{A, unit, b.data(), x.data(), r.data()},
                               device::StoreTotal{&cg.scalars()->r2}, cg.sums());
    });
    return cg.now().r2;
}
#endif

template <Space S>
std::uint64_t BoxOperator<S>::bytes() const {
    return sizeof(double) * static_cast<std::uint64_t>(face_[0].size() + face_[1].size() + face_[2].size());
}

template class BoxOperator<KS_SPACE>;

}  // namespace kasane::sparse
