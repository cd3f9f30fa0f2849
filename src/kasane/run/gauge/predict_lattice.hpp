// Prediction of hops and of iterations of the solver on many devices from a record of `kasane bench lattice.scaling` on few;
// docs/performance-model.md.
#pragma once

#include <kasane/lattice/performance/scaling_model.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kasane::run {

/// The rows of a record, by the storage of fields and links: "double-18", "single-12", "half-12".
struct LatticeRecord {
    std::string device;
    std::map<std::string, std::vector<lattice::MeasuredHop>> hops;
    std::map<std::string, std::vector<lattice::MeasuredIteration>> solves;  ///< by the inner storage; may be empty
};

/// @throws InputError: not a record, without hops on one device and on several, or hops whose devices exchange messages
LatticeRecord read_lattice_record(const std::filesystem::path& record);

/// A hop or an iteration on one number of devices.
struct LatticeTime {
    lattice::RankGrid grid;
    double seconds = 0, low = 0, high = 0;
    lattice::HopTime hops;                    ///< of an iteration: of its four hops
    double start = 0, vectors = 0, sums = 0;  ///< of an iteration, beside its hops [s]
    double strong = 1;                        ///< t(V; 1) / (P t(V; P))
    double weak = 1;                          ///< t(V / P; 1) / t(V; P)
    std::string limit;  ///< largest part of the time: "interior" (of hops and vectors), "latency" (with all starts), "halo" or "sums"
};

struct LatticeScaling {
    bool iteration = false;  ///< of nested BiCGStab; otherwise a hop A^-1 H of one parity
    std::string storage;     ///< of an iteration: of its inner method
    double fit = 0;          ///< largest relative deviation of the model from the rows of the record
    double latency = 0;      ///< of a hop's exchange [s]
    double bandwidth = 0;    ///< of a hop's faces [byte/s]; 0: they take no time
    double sums = 0;         ///< of an iteration, for each doubling of the devices [s]
    std::vector<LatticeTime> times;
    int strong_end = 1;          ///< most devices of `times` up to which every strong efficiency is at least 0.5
    bool ends_in_table = false;  ///< a larger number of devices is in `times`
    int fastest = 1;             ///< devices with the shortest time
};

struct LatticePrediction {
    lattice::Extents extents;
    std::string device;
    std::vector<LatticeScaling> parts;  ///< hops, then iterations
    std::vector<std::string> doubts;    ///< reasons for the width of the ranges, one sentence each
};

/// Times on 1, 2, 4, ... devices, and on `workers`; powers of two that cannot divide the lattice are left out.
/// @param workers  the most devices; 0: 64, or the largest power of two below that can divide the lattice
/// @throws InputError: `workers` cannot divide the lattice, with the usable numbers
LatticePrediction predict_lattice(const lattice::Extents& extents, const LatticeRecord& record, int workers);

}  // namespace kasane::run
