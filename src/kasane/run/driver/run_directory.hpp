// The directory of one run and the names that every kind of run has in it:
//   run.toml  log.txt  record.json  report.html  checkpoints/checkpoint_000000001234.hdf5  checkpoints/particles_000000001234.hdf5
// A kind declares its own files with a Manifest.
// Invariants: while a RunDirectory exists no other process has the same one open (a lock that ends with the process); only files that
// kasane itself wrote are ever removed.
#pragma once

#include <kasane/core/io/json_value.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kasane::run {

/// Files that a kind of run writes beside those of every run.
struct Manifest {
    struct Series {
        std::string folder, stem, end;  ///< files STEM*END in a folder of the run directory
    };
    std::vector<std::string> files;  ///< in the run directory
    std::vector<Series> series;
};
/// All files that an earlier run may have left. @param record  its record.json; null where it cannot be read
using OldFiles = std::function<Manifest(const io::Json& record)>;

/// Checkpoints in the directory of a run, the newest first.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& path);

/// The file beside a checkpoint that has its particles where they are linked to a snapshot: checkpoints/particles_000000001234.hdf5.
std::filesystem::path particles_beside(const std::filesystem::path& checkpoint);

class RunDirectory {
   public:
    /// Treatment of a directory that exists.
    enum class Existing { refuse, replace };

    /// Checks, before anything is computed, that create() will accept the directory. @throws InputError
    static void check_free(const std::filesystem::path& path, Existing existing);
    /// Creates the directory (and its parents), with these folders and checkpoints/ in it. With `replace`, removes an earlier run's files;
    /// other files stay.
    /// @throws InputError: it exists (refuse), is not a run directory (replace), cannot be created, or is in use
    static RunDirectory create(const std::filesystem::path& path, Existing existing, const std::vector<const char*>& folders,
                               const OldFiles& old_files);
    /// @throws InputError: it does not exist, is not a run directory, or is in use
    static RunDirectory open(const std::filesystem::path& path);

    ~RunDirectory();
    RunDirectory(RunDirectory&& other) noexcept;
    RunDirectory& operator=(RunDirectory&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path run_file() const { return path_ / "run.toml"; }
    std::filesystem::path log() const { return path_ / "log.txt"; }
    std::filesystem::path record() const { return path_ / "record.json"; }
    std::filesystem::path report() const { return path_ / "report.html"; }
    std::filesystem::path checkpoint(std::int64_t step) const;
    /// Checkpoints, the newest first.
    std::vector<std::filesystem::path> checkpoints() const { return checkpoints_in(path_); }
    /// Creates checkpoints/ and these folders where they do not exist. @throws InputError: cannot be written to
    void make_folders(const std::vector<const char*>& folders) const;
    /// The path of report.html if it exists, else empty.
    std::filesystem::path existing_report() const;
    /// The status in record.json: "done", "interrupted", …; empty where it does not exist or cannot be read.
    std::string recorded_status() const;
    /// Removes all but the newest `count` checkpoints, and the particles of those that no longer exist.
    void keep_checkpoints(std::size_t count) const;

   private:
    RunDirectory(std::filesystem::path path);

    std::filesystem::path path_;
    int lock_ = -1;
};

/// Whether the directory contains a run.
bool is_run_directory(const std::filesystem::path& path);

}  // namespace kasane::run
