// record.json of a Poisson run: what was solved, where, how, for how long, and how well; written at the start, with every checkpoint and
// at the end. Solutions and checkpoints carry the same record, so that a resumed run goes on counting.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/solver.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

struct PoissonRecord {
    /// One life of the process.
    struct Segment {
        std::string started;  ///< ISO 8601
        std::string device, commit;
        int threads = 0;
        int first_iteration = 0, last_iteration = 0;
        double seconds = 0;
    };

    std::string title, status = "running";  ///< running | done | not converged | interrupted | failed
    std::string message;                    ///< why it failed or did not converge
    std::string started, finished;
    DeviceInfo device;
    int threads = 0;
    std::string simd;
    std::string version, commit, compiler, cuda;  ///< of the program that wrote the record; empty: this one

    std::array<index_t, 3> cells{};
    std::array<double, 3> size{};                ///< of the box [length]
    std::array<std::string, 3> spacing;          ///< in words: "1", "0.1 to 2"
    std::array<sparse::Boundary, 6> boundary{};  ///< as in PoissonProblem
    std::string source, coefficient;             ///< formula, or data set and file
    double rtol = 0;
    int iteration_limit = 0;

    sparse::SetupFacts setup;                  ///< of the last life
    sparse::SolveLog log;                      ///< of all lives together; its history is in the solution, not in the record
    double assembly_seconds = 0;               ///< source, coefficients, matrix and right-hand side, of the last life
    double seconds = 0;                        ///< wall, of all segments
    double least = 0, greatest = 0, mean = 0;  ///< of the potential
    std::vector<Segment> segments;
    std::vector<std::string> unused_keys, papers, notes;
};

std::string to_json(const PoissonRecord& record);
/// @throws InputError when the text is no record of a Poisson run
PoissonRecord poisson_record_from_json(const std::string& text, const std::filesystem::path& file);

}  // namespace kasane::run
