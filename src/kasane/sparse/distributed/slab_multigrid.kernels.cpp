#include <kasane/sparse/distributed/slab_multigrid.hpp>

#include <kasane/sparse/multigrid/box_multigrid.body.hpp>
#include <kasane/sparse/multigrid/restrict_lines.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::sparse {
using namespace box;
namespace {

/// A row of A with the neighbours' planes in arrays of their own.
struct OfSlab {
    BoxFaces<double> A;
    Planes own;
    const double *in, *below, *above;
    double* out;
    KS_FN void operator()(int i, int j, int k) const {
        const index_t plane = A.cells.plane(), line = i + static_cast<index_t>(A.cells.n[0]) * j, c = line + plane * (k - own.begin);
        const double* const lower[3] = {A.face[0] + A.cells.lower_face(0, i, j, k), A.face[1] + A.cells.lower_face(1, i, j, k),
                                        A.face[2] + A.cells.lower_face(2, i, j, k)};
        const int at[3] = {i, j, k};
        double neighbours = 0, diagonal = 0;
        for (int d = 0; d < 3; ++d) {
            const double low = lower[d][0], high = lower[d][A.cells.face_step(d)];
            diagonal += low + high;
            if (A.has_lower(d, at[d]))
                neighbours += low * (d == 2 && k == own.begin ? below[line] : in[c + A.to_lower(d, at[d]) * A.cells.step(d)]);
            if (A.has_upper(d, at[d]))
                neighbours += high * (d == 2 && k + 1 == own.end ? above[line] : in[c + A.to_upper(d, at[d]) * A.cells.step(d)]);
        }
        out[c] = diagonal * in[c] - neighbours;
    }
};

/// body(planes) for the first and the last of some planes.
void for_ends(Planes planes, const auto& body) {
    body(Planes{planes.begin, planes.begin + 1});
    if (planes.count() > 1) body(Planes{planes.end - 1, planes.end});
}
Planes interior(Planes planes) { return {planes.begin + 1, std::max(planes.begin + 1, planes.end - 1)}; }

/// body(planes) for the planes in memory, by their numbers in the box of n planes.
void for_planes_there(Planes there, int n, const auto& body) {
    body(Planes{std::max(there.begin, 0), std::min(there.end, n)});
    if (there.begin < 0) body(Planes{n - 1, n});
    if (there.end > n) body(Planes{0, 1});
}

/// Places of the cells of one colour in a plane.
index_t plane_of_colour(const BoxCells& cells) { return static_cast<index_t>(cells.pairs()) * cells.n[1]; }

/// Planes of an array that begins with plane `first`. @param plane  elements of one
template <class T>
View<T> planes_of(T* array, int first, Planes planes, index_t plane) {
    return {array + plane * (planes.begin - first), plane * planes.count()};
}

}  // namespace

template <Space S>
SlabOperator<S>::SlabOperator(S on, comm::Worker& worker, const BoxPart& part)
    : on_(on), own_(part.own(worker.index())), exchange_(on, worker, 0) {
    for (int d = 0; d < 3; ++d) face_[d] = to_space(on, part.face[d]);
    const auto there = part.there(worker.index());
    cells_ = slab_of(part.whole_box(), own_, there);
    below_ = Buffer<double, S>(on, there.begin < own_.begin ? cells_.plane() : 0);
    above_ = Buffer<double, S>(on, there.end > own_.end ? cells_.plane() : 0);
}

template <Space S>
void SlabOperator<S>::apply(DistributedAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const {
    const index_t plane = cells_.plane();
    exchange_.start(View<const double>(in.view()).subview(0, below_.size()),
                    View<const double>(in.view()).subview(plane * (own_.count() - 1), above_.size()), below_.view(), above_.view());
    // One worker has the planes beyond itself, where z is periodic.
    const double* const below = below_.size() > 0 ? below_.data() : in.data() + plane * (own_.count() - 1);
    const double* const above = above_.size() > 0 ? above_.data() : in.data();
    const OfSlab body{faces(), own_, in.data(), below, above, out.data()};
    for_each_cell(on_, cells_, interior(own_), body);
    exchange_.finish();
    for_ends(own_, [&](Planes end) { for_each_cell(on_, cells_, end, body); });
}

template <Space S>
std::uint64_t SlabOperator<S>::bytes() const {
    return sizeof(double) * static_cast<std::uint64_t>(face_[0].size() + face_[1].size() + face_[2].size() + below_.size() + above_.size());
}

template <Space S>
SlabMultigrid<S>::SlabMultigrid(S on, comm::Worker& worker, const BoxPart& part, const SlabOperator<S>& A)
    : on_(on), worker_(worker.index()), unit_(unit_of_conductances(part.largest.front())), exchange_(on, worker, 2) {
    auto& finest = slabs_.emplace_back();
    finest.cells = A.cells();
    finest.begin = part.begin;
    finest.own = A.own();
    finest.there = part.there(worker.index());
    for (int d = 0; d < 3; ++d) {
        finest.face[d] = Buffer<float, S>(on, static_cast<index_t>(part.face[d].size()));
        parallel_for(on, finest.face[d].size(), ScaledFace{A.faces().face[d], 1 / unit_, finest.face[d].data()});
    }
    while (add_coarse(worker)) {
    }
    for (auto& slab : slabs_) {
        for (auto* vector : {&slab.x, &slab.b}) *vector = Buffer<float, S>(on, slab.cells.plane() * slab.there.count());
        slab.r = Buffer<float, S>(on, plane_of_colour(slab.cells) * slab.there.count());
    }
    synchronize(on);
}

/// The neighbours' planes of a coarse grid, whose own planes are set.
template <Space S>
void SlabMultigrid<S>::exchange_faces(Slab& slab) {
    const auto [own, there] = std::pair{slab.own, slab.there};
    for (int d = 0; d < 3; ++d) {
        // Across z a plane's faces on its far side: the near ones are shared.
        const int far = d == 2 ? 1 : 0;
        const index_t plane = box_of_faces(slab.cells, d).plane();
        const auto planes = [&](int first, bool exists) {
            return planes_of(slab.face[d].data(), there.begin, Planes{first, first + (exists ? 1 : 0)}, plane);
        };
        const bool below = there.begin<own.begin, above = there.end> own.end;
        exchange_.start(View<const float>(planes(own.begin + far, below)), View<const float>(planes(own.end - 1, above)),
                        planes(there.begin, below), planes(own.end + far, above));
        exchange_.finish();
    }
}

template <Space S>
bool SlabMultigrid<S>::add_coarse(comm::Worker& worker) {
    auto& fine = slabs_.back();
    double sums[6];
    for (int d = 0; d < 3; ++d) {
        sums[d] = sum_of(on_, View<const float>(fine.face[d].view()));
        sums[3 + d] = static_cast<double>(fine.face[d].size());
    }
    worker.all_reduce({sums, 6}, comm::Reduce::sum);
    const double mean[3] = {sums[0] / sums[3], sums[1] / sums[4], sums[2] / sums[5]};
    Slab coarse;
    coarse.cells = joined_cells(box_of(fine.cells), mean, fine.line);
    for (const auto begin : fine.begin) coarse.begin.push_back(fine.line[2].coarse_of(begin));
    coarse.begin.back() = coarse.cells.n[2];
    // A divided grid has an even number of planes on every worker but the last, and at least two.
    bool divided = coarse.cells.count() >= divided_from;
    for (std::size_t w = 0; w + 1 < coarse.begin.size(); ++w)
        divided = divided && coarse.begin[w] % 2 == 0 && coarse.begin[w + 1] - coarse.begin[w] >= 2;
    const auto me = static_cast<std::size_t>(worker_);
    coarse.own = {coarse.begin[me], coarse.begin[me + 1]};
    coarse.there = divided ? with_neighbours(coarse.own, coarse.cells.n[2], coarse.cells.periodic(2)) : Planes{0, coarse.cells.n[2]};
    if (divided) coarse.cells = slab_of(coarse.cells, coarse.own, coarse.there);

    for (int d = 0; d < 3; ++d) {
        const auto faces = box_of_faces(coarse.cells, d);
        const int more = d == 2 ? 1 : 0;
        coarse.face[d] = Buffer<float, S>(on_, faces.plane() * (coarse.there.count() + more));
        for_each_cell(on_, faces, Planes{coarse.own.begin, coarse.own.end + more},
                      CoarseFace{fine.faces(), coarse.cells, {fine.line[0], fine.line[1], fine.line[2]}, d, coarse.face[d].data()});
        if (!fine.line[d].joins()) continue;
        fine.share[d] = Buffer<float, S>(on_, plane_of_colour(fine.cells) * fine.there.count());
        const Share body{fine.faces(), fine.line[d], d, fine.share[d].data()};
        for_planes_there(fine.there, fine.cells.n[2], [&](Planes planes) { for_each_of_colour(on_, fine.cells, planes, 0, body); });
    }
    if (divided) {
        exchange_faces(coarse);
        slabs_.push_back(std::move(coarse));
        return true;
    }
    std::array<Buffer<float, S>, 3> faces;
    for (int d = 0; d < 3; ++d) {
        // The faces between two slabs have the same bits on both sides; the upper worker's travel, and the last worker's last ones.
        const index_t plane = box_of_faces(coarse.cells, d).plane();
        std::vector<index_t> begin;
        for (const auto first : coarse.begin) begin.push_back(plane * first);
        if (d == 2) begin.back() += plane;
        exchange_.gather(coarse.face[d].view(), begin);
        faces[static_cast<std::size_t>(d)] = std::move(coarse.face[d]);
    }
    rest_ = std::make_unique<BoxCycle<S>>(on_, coarse.cells, std::move(faces));
    rest_begin_ = coarse.begin;
    return false;
}

/// The planes of `values` on both ends of the slab.
template <Space S>
void SlabMultigrid<S>::start_exchange(const Slab& slab, const Buffer<float, S>& values) const {
    const auto [own, there] = std::pair{slab.own, slab.there};
    const index_t plane = values.size() / there.count();
    const auto planes = [&](int first, bool exists) {
        return planes_of(const_cast<float*>(values.data()), there.begin, Planes{first, first + (exists ? 1 : 0)}, plane);
    };
    const bool below = there.begin<own.begin, above = there.end> own.end;
    exchange_.start(View<const float>(planes(own.begin, below)), View<const float>(planes(own.end - 1, above)),
                    planes(own.begin - 1, below), planes(own.end, above));
}

/// body(planes) for the own planes; `values`, which it computes, are exchanged.
template <Space S>
template <class Body>
void SlabMultigrid<S>::on_planes(const Slab& slab, const Buffer<float, S>& values, const Body& body) const {
    for_ends(slab.own, body);
    start_exchange(slab, values);
    if (const auto inside = interior(slab.own); inside.count() > 0) body(inside);
    exchange_.finish();
}

template <Space S>
void SlabMultigrid<S>::smooth(const Slab& slab, int colour, bool from_zero) const {
    auto* const x = const_cast<float*>(slab.x.data());
    on_planes(slab, slab.x, [&](Planes planes) {
        if (from_zero)
            for_each_of_colour(on_, slab.cells, planes, colour, SmoothFromZero{slab.faces(), slab.b.data(), x});
        else
            for_each_of_colour(on_, slab.cells, planes, colour, Smooth<BoxFaces<float>>{slab.faces(), slab.b.data(), x});
    });
}

/// x = M^-1 b on this grid, x of the neighbours' planes included.
template <Space S>
void SlabMultigrid<S>::cycle(std::size_t level) const {
    auto& slab = slabs_[level];
    const bool last = level + 1 == slabs_.size();
    smooth(slab, 0, true);
    smooth(slab, 1, false);
    on_planes(slab, slab.r, [&](Planes planes) {
        for_each_of_colour(on_, slab.cells, planes, 0,
                           Residual<BoxFaces<float>>{slab.faces(), slab.b.data(), slab.x.data(), slab.r.data()});
    });
    const BoxCells coarse = last ? rest_->grids().front() : slabs_[level + 1].cells;
    const Transfer by{
        slab.cells, coarse, {slab.line[0], slab.line[1], slab.line[2]}, {slab.share[0].data(), slab.share[1].data(), slab.share[2].data()}};
    const auto prolong = [&](const float* correction) {
        for_planes_there(slab.there, slab.cells.n[2], [&](Planes planes) {
            for_each_of_colour(on_, slab.cells, planes, 0, Prolong<true>{by, correction, slab.x.data()});
        });
    };
    if (last) {
        const auto me = static_cast<std::size_t>(worker_);
        restrict_planes(on_, Planes{rest_begin_[me], rest_begin_[me + 1]}, Restrict{by, slab.r.data(), rest_->b().ptr});
        std::vector<index_t> begin;
        for (const auto first : rest_begin_) begin.push_back(coarse.plane() * first);
        exchange_.gather(rest_->b(), begin);
        rest_->apply();
        prolong(rest_->x().ptr);
    } else {
        auto& next = slabs_[level + 1];
        restrict_planes(on_, next.own, Restrict{by, slab.r.data(), next.b.data()});
        cycle(level + 1);
        prolong(next.x.data());
    }
    smooth(slab, 1, false);
    smooth(slab, 0, false);
}

template <Space S>
void SlabMultigrid<S>::apply(DistributedAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const {
    // In units in which |in| is 1, as BoxMultigrid::apply().
    const double norm = std::sqrt(algebra.dot(in, in));
    const double unit = norm > 0 && std::isfinite(norm) ? std::ldexp(1., std::ilogb(norm)) : 1;
    auto& finest = slabs_.front();
    const index_t first = finest.cells.plane() * (finest.own.begin - finest.there.begin);
    parallel_for(on_, in.size(), Narrow{in.data(), 1 / unit, finest.b.data() + first});
    cycle(0);
    parallel_for(on_, in.size(), Widen{finest.x.data() + first, unit / unit_, out.data()});
}

template <Space S>
std::vector<BoxCells> SlabMultigrid<S>::grids() const {
    std::vector<BoxCells> all;
    for (const auto& slab : slabs_) all.push_back(slab.cells);
    for (const auto& cells : rest_->grids()) all.push_back(cells);
    return all;
}

template <Space S>
std::uint64_t SlabMultigrid<S>::bytes() const {
    index_t floats = 0;
    for (const auto& slab : slabs_) {
        floats += slab.x.size() + slab.b.size() + slab.r.size();
        for (int d = 0; d < 3; ++d) floats += slab.face[d].size() + slab.share[d].size();
    }
    return sizeof(float) * static_cast<std::uint64_t>(floats) + rest_->bytes();
}

template class SlabOperator<KS_SPACE>;
template class SlabMultigrid<KS_SPACE>;

}  // namespace kasane::sparse
