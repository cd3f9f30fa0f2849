#include <kasane/gravity/galaxy/disk/cylinder_poisson.hpp>

namespace kasane::gravity {
namespace {

// Share of the dropped fill-in that is added to the diagonal; with all of it a pivot may vanish.    [van der Vorst 2003, section 13.3]
constexpr double relaxation = 0.98;

FivePoint five_point(const CylinderGrid& grid) {
    const auto& [R, z] = grid;
    FivePoint a{std::vector<double>(grid.size()), std::vector<double>(grid.size()), std::vector<double>(grid.size()), z.cells};
    for (std::size_t i = 0; i < R.cells; ++i) {
        const double face = R.face(i + 1), inner = R.face(i);
        for (std::size_t j = 0; j < z.cells; ++j) {
            const std::size_t k = i * z.cells + j;
            // Per radian of azimuth: area of the face over the distance of the cell centres, dR/du at the face. At an outer face the
            // distance is half a cell.
            const bool last_R = i + 1 == R.cells, last_z = j + 1 == z.cells;
            const double through_R = face * (z.face(j + 1) - z.face(j)) / R.slope(face) * (last_R ? 2 : 1);
            const double through_z = (face * face - inner * inner) / 2 / z.slope(z.face(j + 1)) * (last_z ? 2 : 1);
            a.diagonal[k] += through_R + through_z;
            if (!last_R) {
                a.to_R[k] = through_R;
                a.diagonal[k + z.cells] += through_R;
            }
            if (!last_z) {
                a.to_z[k] = through_z;
                a.diagonal[k + 1] += through_z;
            }
        }
    }
    return a;
}

}  // namespace

ModifiedCholesky::ModifiedCholesky(const FivePoint& a) : a_(&a), inverse_(a.diagonal.size()) {
    const std::size_t n = a.diagonal.size(), row = a.z_cells;
    for (std::size_t k = 0; k < n; ++k) {
        double d = a.diagonal[k];
        if (k >= 1) d -= a.to_z[k - 1] * (a.to_z[k - 1] + relaxation * a.to_R[k - 1]) * inverse_[k - 1];
        if (k >= row) d -= a.to_R[k - row] * (a.to_R[k - row] + relaxation * a.to_z[k - row]) * inverse_[k - row];
        inverse_[k] = 1 / d;
    }
}

void ModifiedCholesky::solve(const std::vector<double>& r, std::vector<double>& z) const {
    const std::size_t n = r.size(), row = a_->z_cells;
    for (std::size_t k = 0; k < n; ++k) {
        double sum = r[k];
        if (k >= 1) sum += a_->to_z[k - 1] * z[k - 1];
        if (k >= row) sum += a_->to_R[k - row] * z[k - row];
        z[k] = sum * inverse_[k];
    }
    for (std::size_t k = n; k-- > 0;) {
        double sum = 0;
        if (k + 1 < n) sum += a_->to_z[k] * z[k + 1];
        if (k + row < n) sum += a_->to_R[k] * z[k + row];
        z[k] += sum * inverse_[k];
    }
}

CylinderPoisson::CylinderPoisson(const CylinderGrid& grid)
    : grid_(grid), operator_(five_point(grid)), preconditioner_(operator_), right_(grid.size()), algebra_(Cpu{1}) {
    const auto& [R, z] = grid_;
    for (std::size_t j = 0; j < z.cells; ++j) at_R_face_.push_back(2 * R.end() * (z.face(j + 1) - z.face(j)) / R.slope(R.end()));
    for (std::size_t i = 0; i < R.cells; ++i) {
        at_z_face_.push_back((R.face(i + 1) * R.face(i + 1) - R.face(i) * R.face(i)) / z.slope(z.end()));
    }
    work_ = {right_, right_, right_, right_};
}

krylov::SolveLog CylinderPoisson::solve(const std::vector<double>& mass, const Multipoles& outside, std::vector<double>& psi) {
    const auto& [R, z] = grid_;
    // 4 pi m per 2 pi of azimuth.
    for (std::size_t k = 0; k < mass.size(); ++k) right_[k] = 2 * mass[k];
    for (std::size_t j = 0; j < z.cells; ++j) right_[(R.cells - 1) * z.cells + j] += at_R_face_[j] * outside.psi(R.end(), z.centre(j));
    for (std::size_t i = 0; i < R.cells; ++i) right_[i * z.cells + z.cells - 1] += at_z_face_[i] * outside.psi(R.centre(i), z.end());
    return krylov::conjugate_gradients(algebra_, operator_, preconditioner_, right_, psi, work_,
                                       {.rtol = 1e-9, .iteration_limit = 2000, .history = false});
}

}  // namespace kasane::gravity
