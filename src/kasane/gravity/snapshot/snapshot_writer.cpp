#include <kasane/gravity/snapshot/hdf5_layout.hpp>
#include <kasane/gravity/snapshot/snapshot_writer.hpp>

#include <algorithm>
#include <utility>

namespace kasane::gravity {

using namespace snapshot;

namespace {

Header header_of(const SnapshotOutline& outline) {
    Header header;
    header.here = header.total = outline.count;
    header.mass_table = outline.mass;
    header.time = outline.time;
    header.units = outline.units;
    header.softening = outline.softening;
    header.force_error = outline.force_error;
    header.components = outline.components;
    header.model = outline.model;
    return header;
}

/// @throws InputError
Header checked(const std::filesystem::path& path, const SnapshotOutline& outline, const SnapshotSetPlace& place) {
    auto header = header_of(outline);
    if (place.files > 1) header.total = place.total;
    header.files = place.files;
    header.set = place.number;
    check_header(path, header);
    if (sum(header.total) == 0) throw bad(path, "", "cannot be written: there are no particles");
    for (const auto n : outline.count) {
        if (n > UINT32_MAX)
            throw bad(path, "", "cannot be written: above 2^32 particles of a type. Take fewer, or give each component another type");
    }
    return header;
}

}  // namespace

std::uint64_t SnapshotOutline::bytes() const {
    std::uint64_t all = 0;
    for (std::size_t t = 0; t < type_count; ++t) {
        const std::uint64_t each = 2 * sizeof(Vec3<double>) + sizeof(std::uint64_t) + (mass[t] == 0 ? sizeof(double) : 0);
        const auto chunk = std::clamp<std::uint64_t>(count[t], 1, hdf5::chunk_rows);
        const auto rows = sum(count[t], chunk - 1) / chunk * chunk;  // the last chunk is stored whole
        all = sum(all, rows > UINT64_MAX / each ? UINT64_MAX : each * rows);
    }
    return all;
}

struct SnapshotWriter::State {
    AtomicFile file;
    Hdf5Writer writer;
    MemberLists lists;  // of the last block
    bool complete = false;

    State(const std::filesystem::path& path, const SnapshotOutline& outline, const Header& header, const SnapshotWriteOptions& options)
        : file(path, options.compress ? 0 : outline.bytes()), writer(file, header, options, {}) {}
};

std::filesystem::path snapshot_file_name(const std::filesystem::path& path, int file) { return numbered_path(path, file); }

SnapshotWriter::SnapshotWriter(const std::filesystem::path& path, SnapshotOutline outline, const SnapshotWriteOptions& options)
    : state_(std::make_unique<State>(path, outline, checked(path, outline, {}), options)) {}
SnapshotWriter::SnapshotWriter(const std::filesystem::path& path, SnapshotOutline outline, const SnapshotSetPlace& place,
                               const SnapshotWriteOptions& options)
    : state_(std::make_unique<State>(numbered_path(path, place.file), outline, checked(path, outline, place), options)) {}
SnapshotWriter::~SnapshotWriter() = default;
SnapshotWriter::SnapshotWriter(SnapshotWriter&&) noexcept = default;

void SnapshotWriter::append(const Particles& block) {
    const auto members = members_of(block.type, state_->lists);
    for (std::size_t t = 0; t < type_count; ++t)
        if (members[t].count > 0) state_->writer.append(t, columns_of(block), members[t]);
}

void SnapshotWriter::complete() {
    if (!std::exchange(state_->complete, true)) state_->writer.close();
}

void SnapshotWriter::commit() {
    complete();
    state_->file.commit();
}

}  // namespace kasane::gravity
