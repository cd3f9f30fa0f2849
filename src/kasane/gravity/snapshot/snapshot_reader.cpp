#include <kasane/core/base/error.hpp>
#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot_file.hpp>
#include <kasane/gravity/snapshot/snapshot_reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace kasane::gravity {

namespace fs = std::filesystem;

namespace snapshot {

/// The files of a snapshot and their headers.
struct FileSet {
    std::vector<fs::path> paths;
    std::vector<Header> headers;
    Counts total{};
    bool acceleration = true, potential = true;

    const Header& front() const { return headers.front(); }
};

}  // namespace snapshot

using namespace snapshot;

namespace {

/// The parts of a name before and after the number: "name.3.hdf5" or "name.3".
struct SetName {
    std::string before, after;
};

std::optional<SetName> set_name(const fs::path& path) {
    const auto name = path.filename().string();
    const auto numbered = [&](std::size_t end, const std::string& after) -> std::optional<SetName> {
        const auto dot = name.rfind('.', end - 1);
        if (end == 0 || dot == std::string::npos || dot + 1 >= end) return {};
        const auto digits = name.substr(dot + 1, end - dot - 1);
        if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return {};
        return SetName{name.substr(0, dot + 1), after};
    };
    if (auto plain = numbered(name.size(), "")) return plain;
    const auto extension = path.extension().string();
    return numbered(name.size() - extension.size(), extension);
}

std::unique_ptr<SnapshotFile> open(const fs::path& path) {
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    if (!fs::exists(status)) throw bad(path, "", "cannot be read: there is no such file");
    if (fs::is_directory(status)) throw bad(path, "", "is a directory: name one file of the snapshot");
    if (!fs::is_regular_file(status)) throw bad(path, "", "is not a regular file");
    return hdf5::is_hdf5(path) ? open_hdf5(path) : open_binary(path);
}

/// Opens every file of the set once and compares the headers.
FileSet open_set(fs::path path) {
    if (std::error_code ignored; !fs::exists(path, ignored) && fs::exists(numbered_path(path, 0), ignored)) path = numbered_path(path, 0);
    FileSet set;
    auto first = open(path);
    const int files = first->header().files;
    const auto name = set_name(path);
    if (files > 1 && !name) {
        throw bad(path, "",
                  fmt::format("is one of {} files of a snapshot, but its name has no number: it must be like name.0 or "
                              "name.0.hdf5",
                              files));
    }
    for (int i = 0; i < files; ++i) {
        set.paths.push_back(files == 1 ? path : path.parent_path() / (name->before + std::to_string(i) + name->after));
        const auto file = files == 1 ? std::move(first) : open(set.paths.back());
        const auto& header = file->header();
        check_header(set.paths.back(), header);
        const auto disagree = [&](const std::string& what) {
            return bad(set.paths.back(), "header", fmt::format("disagrees with {} about the {}", set.paths.front().string(), what));
        };
        if (header.files != files) throw disagree("number of files");
        set.headers.push_back(header);
        if (header.total != set.front().total) throw disagree("total number of particles");
        if (header.time != set.front().time) throw disagree("time");
        if (header.units != set.front().units) throw disagree("units");
        if (header.set != set.front().set) throw disagree("number of the set: the files were not written together, and one was replaced");
        for (std::size_t t = 0; t < type_count; ++t) set.total[t] = sum(set.total[t], header.here[t]);
        set.acceleration = set.acceleration && file->has_acceleration();
        set.potential = set.potential && file->has_potential();
    }
    for (std::size_t t = 0; t < type_count; ++t) {
        if (set.total[t] != set.front().total[t]) {
            throw bad(path, "header",
                      fmt::format("counts disagree: there are {} particles of type {}, but the header announces {}", set.total[t], t,
                                  set.front().total[t]));
        }
    }
    if (sum(set.total) == 0) throw bad(path, "header", "counts no particles: at least one is needed");
    return set;
}

}  // namespace

struct SnapshotReader::Set {
    FileSet files;
    SnapshotSummary summary;
    // The file that was read last stays open: successive parts often follow each other in it.
    mutable std::unique_ptr<SnapshotFile> open_file;
    mutable std::size_t opened = 0;

    const SnapshotFile& file(std::size_t i) const {
        if (open_file && opened == i) return *open_file;
        open_file = open(files.paths[i]);
        opened = i;
        if (open_file->header().here != files.headers[i].here) throw bad(files.paths[i], "", "has changed while it was being read");
        return *open_file;
    }
};

SnapshotReader::SnapshotReader(const fs::path& path) : set_(std::make_unique<Set>()) {
    set_->files = open_set(path);
    const auto& front = set_->files.front();
    set_->summary = {front.format, set_->files.total, front.time, front.files, front.units};
}
SnapshotReader::~SnapshotReader() = default;
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;

const SnapshotSummary& SnapshotReader::summary() const { return set_->summary; }
bool SnapshotReader::has_acceleration() const { return set_->files.acceleration; }
bool SnapshotReader::has_potential() const { return set_->files.potential; }

Snapshot SnapshotReader::outline() const {
    const auto& front = set_->files.front();
    Snapshot result;
    result.time = front.time;
    result.units = front.units;
    result.states_units = front.states_units;
    result.softening = front.softening;
    set_->file(0).read_origin(result);
    return result;
}

void SnapshotReader::read(const Counts& skip, const Counts& count, Snapshot& into, const Columns& columns) const {
    const auto n = sum(count);
    auto& particles = into.particles;
    resize_touched(particles.position, columns.position ? n : 0);
    resize_touched(particles.velocity, columns.velocity ? n : 0);
    resize_touched(particles.mass, columns.mass ? n : 0);
    resize_touched(particles.id, columns.id ? n : 0);
    resize_touched(particles.type, n);
    resize_touched(into.acceleration, columns.acceleration && has_acceleration() ? n : 0);
    resize_touched(into.potential, columns.potential && has_potential() ? n : 0);
    Counts to{}, before{};  // place in the arrays; particles in the files before
    for (std::size_t t = 0, at = 0; t < type_count; ++t) {
        KS_EXPECT(skip[t] + count[t] <= set_->files.total[t]);
        to[t] = at;
        std::fill_n(particles.type.begin() + static_cast<std::ptrdiff_t>(at), count[t], static_cast<std::uint8_t>(t));
        at += count[t];
    }
    for (std::size_t i = 0; i < set_->files.paths.size(); ++i) {
        const auto& here = set_->files.headers[i].here;
        Counts from{}, part{};
        for (std::size_t t = 0; t < type_count; ++t) {
            const auto begin = std::max(skip[t], before[t]), end = std::min(skip[t] + count[t], before[t] + here[t]);
            if (begin < end) from[t] = begin - before[t], part[t] = end - begin;
            before[t] += here[t];
        }
        if (sum(part) == 0) continue;
        set_->file(i).read(into, to, from, part);
        for (std::size_t t = 0; t < type_count; ++t) to[t] += part[t];
    }
    if (n > 0 && columns.position && columns.mass && columns.id) validate(particles, set_->files.paths.front().string(), columns.velocity);
}

Particles SnapshotReader::read(index_t first, index_t n) const {
    const auto begin = static_cast<std::uint64_t>(first), end = begin + static_cast<std::uint64_t>(n);
    Counts skip{}, count{};
    std::uint64_t before = 0;
    for (std::size_t t = 0; t < type_count; ++t) {
        const auto all = set_->files.total[t], from = std::max(begin, before), to = std::min(end, before + all);
        if (from < to) skip[t] = from - before, count[t] = to - from;
        before += all;
    }
    Snapshot part;
    read(skip, count, part, {});
    return std::move(part.particles);
}

}  // namespace kasane::gravity
