// The model of the time of a hop, and of an iteration of the solver, on devices that write into each other's halos: a few terms, fitted to
// measurements on few devices; docs/performance-model.md. For a worker with V sites, whose hop receives B bytes for its faces:
//
//     hop       = start + V site                                   on one device
//               + latency + B / bandwidth                          on several
//     iteration = 4 hops + start + V site + sums log2(workers)     of nested BiCGStab; the second start and site are of vectors
//
// All terms are fitted by least squares of the relative deviations, none below zero.
#pragma once

#include <kasane/lattice/distributed/rank_grid.hpp>

#include <vector>

namespace kasane::lattice {

/// A measured hop from one parity to the other.
struct MeasuredHop {
    RankGrid grid;
    double seconds = 0;
    double alone = 0;       ///< of the local lattice's hop without messages [s]
    double face_bytes = 0;  ///< that a worker receives; 0 on one
};

/// A measured solve.
struct MeasuredIteration {
    RankGrid grid;
    double seconds = 0;  ///< of the solve, divided by the iterations of its inner method
};

/// Parts of a hop. [s]
struct HopTime {
    double start = 0;     ///< that does not depend on the number of sites
    double interior = 0;  ///< proportional to the sites of the local lattice
    double latency = 0;   ///< of the exchange
    double halo = 0;      ///< proportional to the bytes of the faces
    double total() const { return start + interior + latency + halo; }
};

class HopModel {
   public:
    /// @param rows  on one worker and on several   @throws LogicError: none on one, or none on several
    explicit HopModel(const std::vector<MeasuredHop>& rows);

    HopTime time(const RankGrid& grid) const;

    double largest() const { return largest_; }                     ///< relative deviation from a row of the fit
    double fewest_sites() const { return fewest_sites_; }           ///< of a measured local lattice
    int most_workers() const { return most_workers_; }              ///< of the rows
    double latency() const { return latency_; }                     ///< of a hop's exchange [s]
    double bandwidth() const { return byte_ > 0 ? 1 / byte_ : 0; }  ///< of the faces [byte/s]; 0: they take no time

   private:
    double start_ = 0, site_ = 0, latency_ = 0, byte_ = 0;  ///< [s]
    double face_site_bytes_ = 0;
    double largest_ = 0, fewest_sites_ = 0;
    int most_workers_ = 1;
};

/// Parts of an iteration. [s]
struct IterationTime {
    HopTime hops;  ///< of all four
    double start = 0, vectors = 0;
    double sums = 0;  ///< reductions over the workers, in addition to those of one
    double total() const { return hops.total() + start + vectors + sums; }
};

class IterationModel {
   public:
    /// @param hop  of the inner precision   @param rows  may be of one worker alone: then sums take no time
    /// @throws LogicError: none on one worker
    IterationModel(const HopModel& hop, const std::vector<MeasuredIteration>& rows);

    IterationTime time(const RankGrid& grid) const;

    double largest() const { return largest_; }         ///< relative deviation from a row of the fit
    double sums() const { return sums_; }               ///< for each doubling of the workers [s]
    int most_workers() const { return most_workers_; }  ///< of the rows
    const HopModel& hop() const { return hop_; }

   private:
    HopModel hop_;
    double start_ = 0, site_ = 0, sums_ = 0;  ///< [s]
    double largest_ = 0;
    int most_workers_ = 1;
};

}  // namespace kasane::lattice
