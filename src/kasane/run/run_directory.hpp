// The directory of one run and the names in it:
//   run.toml  log.txt  record.json  report.html  checkpoints/checkpoint_000000001234.hdf5
// and of a gravity run   energy.csv  snapshots/snapshot_0000.hdf5 …   of a Poisson problem   solution.hdf5  solution.xmf
// and of quenched updates   measurements.csv  configuration.lime  configurations/configuration_000000000500.lime …
// Invariants: while a RunDirectory lives no other process has the same one open (a lock that dies with the process); only files
// that kasane itself wrote are ever removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace kasane::run {

/// Checkpoints in the directory of a run, the newest first.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& path);

class RunDirectory {
   public:
    /// What to do with a directory that exists.
    enum class Existing { refuse, replace };

    /// @throws InputError when create() would refuse, before anything is computed
    static void check_free(const std::filesystem::path& path, Existing existing);
    /// Makes the directory (and those above it), with these folders in it. With `replace`, an earlier run's files are removed from it;
    /// anything else stays.
    /// @throws InputError: it exists (refuse), is no run directory (replace), cannot be made, or is in use
    static RunDirectory create(const std::filesystem::path& path, Existing existing,
                               std::initializer_list<const char*> folders = {"snapshots", "checkpoints"});
    /// @throws InputError: not there, no run directory, or in use
    static RunDirectory open(const std::filesystem::path& path);

    ~RunDirectory();
    RunDirectory(RunDirectory&& other) noexcept;
    RunDirectory& operator=(RunDirectory&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path run_file() const { return path_ / "run.toml"; }
    std::filesystem::path log() const { return path_ / "log.txt"; }
    std::filesystem::path energy() const { return path_ / "energy.csv"; }
    std::filesystem::path record() const { return path_ / "record.json"; }
    std::filesystem::path report() const { return path_ / "report.html"; }
    std::filesystem::path solution() const { return path_ / "solution.hdf5"; }
    std::filesystem::path xdmf() const { return path_ / "solution.xmf"; }
    std::filesystem::path measurements() const { return path_ / "measurements.csv"; }
    std::filesystem::path snapshot(std::int64_t number) const;
    std::filesystem::path checkpoint(std::int64_t step) const;
    /// Checkpoints, the newest first.
    std::vector<std::filesystem::path> checkpoints() const { return checkpoints_in(path_); }
    /// Creates those of these folders in it that are not there. @throws InputError: cannot be written to
    void make_folders(std::initializer_list<const char*> folders) const;
    /// report.html if it is there, else empty.
    std::filesystem::path existing_report() const;
    /// "done", "interrupted", …, as record.json says; empty when there is none or it cannot be read.
    std::string recorded_status() const;
    /// Removes all but the newest `count` checkpoints.
    void keep_checkpoints(std::size_t count) const;

   private:
    RunDirectory(std::filesystem::path path);

    std::filesystem::path path_;
    int lock_ = -1;
};

/// Does the directory hold a run?
bool is_run_directory(const std::filesystem::path& path);

}  // namespace kasane::run
