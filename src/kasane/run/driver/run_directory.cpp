#include <kasane/core/base/error.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/run/driver/run_directory.hpp>
#include <kasane/run/driver/run_texts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace fs = std::filesystem;

namespace kasane::run {
namespace {

constexpr const char *checkpoint_stem = "checkpoint_", *particles_stem = "particles_";

Where place(const fs::path& path) { return {path.string(), 0, 0, "output.directory"}; }

bool written_by_kasane(const std::string& name, const std::string& stem, const std::string& end) {
    const auto body = name.starts_with(".") ? name.substr(1) : name;  // ".name.tmp": left by a killed writer
    return body.starts_with(stem) && (body.ends_with(end) || body.ends_with(end + ".tmp"));
}

/// record.json of the run in a directory; null where it is missing or cannot be read.
io::Json record_in(const fs::path& path) {
    const auto text = content(path / "record.json");
    try {
        return text ? io::Json(io::parse_json(*text, path / "record.json")) : io::Json();
    } catch (const InputError&) {
        return {};
    }
}

void remove_file(const fs::path& folder, const std::string& name) {
    fs::remove(folder / name);
    fs::remove(folder / ("." + name + ".tmp"));
}

void remove_series(const fs::path& path, const Manifest::Series& series) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(path / series.folder, absent))
        if (entry.is_regular_file() && written_by_kasane(entry.path().filename().string(), series.stem, series.end))
            fs::remove(entry.path());
}

void remove_old_run(const fs::path& path, const Manifest& old) {
    for (const auto& name : old.files) remove_file(path, name);
    for (const auto& series : old.series) {
        remove_series(path, series);
        std::error_code not_empty;
        fs::remove(path / series.folder, not_empty);  // fails where other files are in it
    }
    for (const char* name : {"record.json", "log.txt", "report.html"}) remove_file(path, name);
    for (const char* stem : {checkpoint_stem, particles_stem}) remove_series(path, {"checkpoints", stem, ".hdf5"});
    remove_file(path, "run.toml");  // last, so that --force works again if this is interrupted
}

}  // namespace

bool is_run_directory(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path / "run.toml", ignored) &&
           (fs::is_regular_file(path / "record.json", ignored) || fs::is_directory(path / "checkpoints", ignored));
}

void RunDirectory::check_free(const fs::path& path, Existing existing) {
    std::error_code error;
    const auto status = fs::symlink_status(path, error);
    if (!fs::exists(status)) {
        KS_VALIDATE(!error || status.type() == fs::file_type::not_found, fmt::format("cannot be looked at: {}", error.message()),
                    place(path));
        return;
    }
    KS_VALIDATE(fs::is_directory(path, error), "exists and is not a directory: choose another output directory", place(path));
    KS_VALIDATE(existing == Existing::replace, "exists already: choose another output directory, or give --force to replace the run in it",
                place(path));
    KS_VALIDATE(is_run_directory(path) || fs::is_empty(path, error),
                "holds other things than a run of kasane, so --force leaves it alone: choose another output directory", place(path));
}

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)) {
    lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    KS_VALIDATE(lock_ >= 0, fmt::format("cannot be opened: {}", std::strerror(errno)), place(path_));
    // File systems without locks (some network ones) give another error: the run continues without a lock.
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(std::exchange(lock_, -1));
        throw InputError("another kasane is working in it: wait for that run, or interrupt it", place(path_));
    }
}

RunDirectory::~RunDirectory() {
    if (lock_ >= 0) ::close(lock_);
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunDirectory RunDirectory::create(const fs::path& path, Existing existing, const std::vector<const char*>& folders,
                                  const OldFiles& old_files) {
    check_free(path, existing);
    std::error_code error;
    fs::create_directories(path, error);
    if (error == std::errc::no_space_on_device) throw ComputationError(fmt::format("cannot create {}: the disk is full", path.string()));
    KS_VALIDATE(!error && fs::is_directory(path), fmt::format("cannot be created: {}. Choose a place where you may write", error.message()),
                place(path));
    RunDirectory directory(path);
    try {
        remove_old_run(path, old_files(record_in(path)));
    } catch (const fs::filesystem_error& failure) {
        throw InputError(fmt::format("cannot be written to: {}", failure.code().message()), place(path));
    }
    directory.make_folders(folders);
    return directory;
}

void RunDirectory::make_folders(const std::vector<const char*>& folders) const {
    auto all = folders;
    all.push_back("checkpoints");
    for (const char* folder : all) {
        std::error_code error;
        fs::create_directory(path_ / folder, error);
        KS_VALIDATE(!error, fmt::format("cannot be written to: {}", error.message()), place(path_));
    }
}

fs::path RunDirectory::existing_report() const {
    std::error_code ignored;
    return fs::is_regular_file(report(), ignored) ? report() : fs::path();
}

std::string RunDirectory::recorded_status() const {
    const auto json = record_in(path_);
    const auto status = json.is_object() ? json.find("status") : json.end();
    return status != json.end() && status->is_string() ? status->get<std::string>() : "";
}

RunDirectory RunDirectory::open(const fs::path& path) {
    std::error_code ignored;
    KS_VALIDATE(fs::exists(path, ignored), "there is no such directory", {path.string(), 0, 0, ""});
    KS_VALIDATE(fs::is_directory(path, ignored), "is not a directory; give the directory of a run", {path.string(), 0, 0, ""});
    KS_VALIDATE(is_run_directory(path), "is not the directory of a run: it has no run.toml with checkpoints or a record beside it",
                {path.string(), 0, 0, ""});
    return RunDirectory(path);
}

fs::path RunDirectory::checkpoint(std::int64_t step) const { return path_ / "checkpoints" / fmt::format("checkpoint_{:012}.hdf5", step); }

std::vector<fs::path> checkpoints_in(const fs::path& path) {
    std::vector<fs::path> all;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(path / "checkpoints", absent)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with(checkpoint_stem) && name.ends_with(".hdf5")) all.push_back(entry.path());
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.filename() > b.filename(); });
    return all;
}

fs::path particles_beside(const fs::path& checkpoint) {
    auto name = checkpoint.filename().string();
    if (name.starts_with(checkpoint_stem)) name.erase(0, std::strlen(checkpoint_stem));
    return checkpoint.parent_path() / (particles_stem + name);
}

void RunDirectory::keep_checkpoints(std::size_t count) const {
    const auto all = checkpoints();
    std::error_code ignored;  // a remaining file does no harm
    for (std::size_t i = count; i < all.size(); ++i) fs::remove(all[i], ignored);
    // Particles of a renamed checkpoint (NAME.unread) stay.
    std::vector<fs::path> particles;
    std::set<std::string> used;
    for (const auto& entry : fs::directory_iterator(path_ / "checkpoints", ignored)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with(particles_stem) && name.ends_with(".hdf5")) particles.push_back(entry.path());
        if (const auto end = name.find(".hdf5"); name.starts_with(checkpoint_stem) && end != std::string::npos)
            used.insert(particles_beside(entry.path().parent_path() / name.substr(0, end + 5)).filename().string());
    }
    for (const auto& each : particles)
        if (!used.contains(each.filename().string())) fs::remove(each, ignored);
}

}  // namespace kasane::run
