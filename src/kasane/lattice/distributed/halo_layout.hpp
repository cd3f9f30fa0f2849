// The faces of a local lattice, and the sites on them. Plain data for host and device.
// Two faces for each direction whose neighbours belong to other workers: face 2 k sends the first slice backward and receives the next
// worker's first slice, neighbour of this worker's last one; face 2 k + 1 sends the last slice forward and receives the neighbour of the
// first one. Invariant: sender and receiver number the sites of a face equally: a site and its neighbour across the face have one number.
#pragma once

#include <kasane/lattice/geometry.hpp>

namespace kasane::lattice {

struct HaloLayout {
    static constexpr int most_faces = 8;

    Extents local;            ///< of the local lattice
    int faces = 0;            ///< their number
    int mu[most_faces] = {};  ///< direction of each
    index_t begin[9] = {};    ///< number of sites of one parity on the faces before each

    KS_FN index_t sites() const { return begin[faces]; }  ///< of one parity on all faces
    KS_FN index_t sites(int face) const { return begin[face + 1] - begin[face]; }
    /// Whether the face sends the first slice.
    static KS_FN bool first(int face) { return face % 2 == 0; }
    /// Coordinate along mu of the slice that a face sends.
    KS_FN int sent_slice(int face) const { return first(face) ? 0 : local[mu[face]] - 1; }
    /// Coordinate along mu of the slice whose neighbours a face receives.
    KS_FN int received_slice(int face) const { return first(face) ? local[mu[face]] - 1 : 0; }
    /// The face with this number of the sites on all faces.
    KS_FN int face_of(index_t i) const {
        int face = 0;
        while (i >= begin[face + 1]) ++face;
        return face;
    }

    /// Number of a site among those of its parity in its slice perpendicular to mu.
    KS_FN index_t number(int along, const Site& s) const { return slice_number(along, s) / 2; }
    /// The site of that parity and number in the slice.
    KS_FN Site site(int along, int slice, Parity parity, index_t number) const {
        index_t rest = 2 * number;
        Site s{};
        int fastest = -1, sum = slice + static_cast<int>(parity);
        for (int nu = 0; nu < 4; ++nu) {
            if (nu == along) continue;
            s[nu] = static_cast<int>(rest % local[nu]);
            rest /= local[nu];
            sum += s[nu];
            if (fastest < 0) fastest = nu;
        }
        s[along] = slice;
        s[fastest] += sum & 1;
        return s;
    }

   private:
    KS_FN index_t slice_number(int along, const Site& s) const {
        index_t number = 0;
        for (int nu = 3; nu >= 0; --nu)
            if (nu != along) number = number * local[nu] + s[nu];
        return number;
    }
};

}  // namespace kasane::lattice
