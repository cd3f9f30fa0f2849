#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/core/io/hdf5_blocks.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <unistd.h>

namespace kasane::hdf5 {
namespace {

constexpr std::uint64_t least = 4ull << 20;            // bytes of a data set; below, threads gain nothing
constexpr std::uint64_t at_once = 1ull << 20;          // bytes of one read of a data set without chunks
constexpr std::uint64_t checksum_bytes = 4;            // after a chunk
constexpr std::uint64_t written_at_once = 8ull << 20;  // bytes of the chunks whose checksums are computed before they are written
constexpr std::uint64_t least_chunk = 4096;            // bytes; a list of smaller ones could be longer than the data

/// A part of the data set: `bytes` in the file at `address`, of which `used` belong to it; the rest of the last chunk is padding.
struct Block {
    std::uint64_t address, bytes, used;
    bool checksum;
};

/// Closes a property list or a data space at the end of its scope.
struct Closed {
    hid_t id;
    herr_t (*close)(hid_t);
    ~Closed() {
        if (id >= 0) close(id);
    }
};

/// Fletcher's sums of big-endian words of 16 bits modulo 65535, as HDF5 stores them: the second one above the first. A sum that is a
/// multiple of 65535 is stored as 65535, and as 0 where all bytes are 0.
std::uint32_t fletcher32(const unsigned char* bytes, std::uint64_t count) {
    constexpr std::uint64_t words_at_once = 1 << 15;  // sums of word * place stay below 2^46
    std::uint64_t first = 0, second = 0;
    bool zeros = true;
    for (std::uint64_t words = count / 2; words > 0;) {
        const std::uint64_t n = std::min(words, words_at_once);
        std::uint64_t sum = 0, weighted = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t word = static_cast<std::uint64_t>(bytes[2 * i]) << 8 | bytes[2 * i + 1];
            sum += word;
            weighted += word * (n - i);
        }
        second = (second + n * first + weighted) % 65535;
        first = (first + sum) % 65535;
        zeros = zeros && sum == 0;
        bytes += 2 * n;
        words -= n;
    }
    if (count % 2 != 0) {
        first = (first + (static_cast<std::uint64_t>(bytes[0]) << 8)) % 65535;
        second = (second + first) % 65535;
        zeros = zeros && bytes[0] == 0;
    }
    const auto stored = [&](std::uint64_t sum) { return zeros ? 0 : sum == 0 ? 65535 : sum; };
    return static_cast<std::uint32_t>(stored(second) << 16 | stored(first));
}

/// The same with 65535 replaced by 0, for files of other writers.
std::uint32_t reduced(std::uint32_t sums) { return (sums >> 16) % 65535 << 16 | (sums & 0xffff) % 65535; }

bool read_at(int descriptor, std::uint64_t address, unsigned char* to, std::uint64_t count) {
    while (count > 0) {
        const auto got = ::pread(descriptor, to, count, static_cast<off_t>(address));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        address += static_cast<std::uint64_t>(got);
        to += got;
        count -= static_cast<std::uint64_t>(got);
    }
    return true;
}

/// True if the chunks have no filter, or Fletcher32 alone.
bool plain_filters(hid_t layout, bool& checksum) {
    const int filters = H5Pget_nfilters(layout);
    checksum = filters == 1;
    if (filters == 0) return true;
    std::size_t numbers = 0;
    unsigned flags = 0, config = 0;
    return filters == 1 && H5Pget_filter2(layout, 0, &flags, &numbers, nullptr, 0, nullptr, &config) == H5Z_FILTER_FLETCHER32;
}

/// The blocks of a data set of `rows` rows of `row_bytes`; empty: HDF5 must read it.
std::vector<Block> blocks_of(hid_t dataset, hid_t layout, int rank, std::uint64_t rows, std::uint64_t columns, std::uint64_t row_bytes) {
    std::vector<Block> blocks;
    if (H5Pget_layout(layout) == H5D_CONTIGUOUS) {
        const auto begin = H5Dget_offset(dataset);
        if (begin == HADDR_UNDEF) return {};
        for (std::uint64_t at = 0; at < rows * row_bytes; at += at_once) {
            const auto bytes = std::min(at_once, rows * row_bytes - at);
            blocks.push_back({begin + at, bytes, bytes, false});
        }
        return blocks;
    }
    std::array<hsize_t, 2> chunk{1, 1};
    bool checksum = false;
    if (H5Pget_layout(layout) != H5D_CHUNKED || !plain_filters(layout, checksum) || H5Pget_chunk(layout, rank, chunk.data()) != rank ||
        (rank == 2 && chunk[1] != columns))
        return {};
    const std::uint64_t bytes = chunk[0] * row_bytes;
    if (bytes < least_chunk) return {};
    for (std::uint64_t row = 0; row < rows; row += chunk[0]) {
        const std::array<hsize_t, 2> offset{row, 0};
        unsigned skipped = 0;
        haddr_t address = HADDR_UNDEF;
        hsize_t size = 0;
        if (H5Dget_chunk_info_by_coord(dataset, offset.data(), &skipped, &address, &size) < 0 || address == HADDR_UNDEF || skipped != 0 ||
            size != bytes + (checksum ? checksum_bytes : 0))
            return {};
        blocks.push_back({address, bytes, std::min<std::uint64_t>(chunk[0], rows - row) * row_bytes, checksum});
    }
    return blocks;
}

}  // namespace

bool read_blocks(hid_t file, hid_t dataset, hid_t memory_type, void* to) {
    const Closed type{H5Dget_type(dataset), H5Tclose}, space{H5Dget_space(dataset), H5Sclose},
        layout{H5Dget_create_plist(dataset), H5Pclose}, created{H5Fget_create_plist(file), H5Pclose},
        access{H5Fget_access_plist(file), H5Pclose};
    std::array<hsize_t, 2> shape{1, 1};
    hsize_t user_block = 0;
    const int rank = H5Sget_simple_extent_ndims(space.id);
    if (rank < 1 || rank > 2 || H5Pget_driver(access.id) != H5FD_SEC2 || H5Tequal(type.id, memory_type) <= 0 ||
        H5Sget_simple_extent_dims(space.id, shape.data(), nullptr) != rank || H5Pget_userblock(created.id, &user_block) < 0 ||
        user_block != 0)
        return false;
    const std::uint64_t row_bytes = shape[1] * H5Tget_size(type.id);
    if (shape[0] * row_bytes < least) return false;
    void* handle = nullptr;
    const auto blocks = blocks_of(dataset, layout.id, rank, shape[0], shape[1], row_bytes);
    if (blocks.empty() || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || handle == nullptr) return false;
    const int descriptor = *static_cast<const int*>(handle);

    const auto place = [&](index_t k) { return static_cast<unsigned char*>(to) + static_cast<std::uint64_t>(k) * blocks[0].used; };
    std::atomic<bool> whole = true;
    for_each_part(thread_count(Cpu{}), static_cast<index_t>(blocks.size()), [&](index_t k) {
        const auto& block = blocks[static_cast<std::size_t>(k)];
        if (!block.checksum && block.used == block.bytes) {
            if (!read_at(descriptor, block.address, place(k), block.bytes)) whole = false;
            return;
        }
        std::vector<unsigned char> stored(block.bytes + (block.checksum ? checksum_bytes : 0));
        if (!read_at(descriptor, block.address, stored.data(), stored.size())) {
            whole = false;
            return;
        }
        if (block.checksum) {
            std::uint32_t sums = 0;
            for (std::uint64_t byte = 0; byte < checksum_bytes; ++byte)
                sums |= static_cast<std::uint32_t>(stored[block.bytes + byte]) << 8 * byte;
            if (reduced(sums) != reduced(fletcher32(stored.data(), block.bytes))) whole = false;
        }
        std::memcpy(place(k), stored.data(), block.used);
    });
    return whole;
}

bool write_blocks(OutputFile& to, hid_t dataset, hid_t memory_type, hsize_t first, hsize_t rows, const void* from) {
    const Closed type{H5Dget_type(dataset), H5Tclose}, space{H5Dget_space(dataset), H5Sclose},
        layout{H5Dget_create_plist(dataset), H5Pclose};
    std::array<hsize_t, 2> shape{1, 1}, chunk{1, 1};
    bool checksum = false;
    const int rank = H5Sget_simple_extent_ndims(space.id);
    if (rank < 1 || rank > 2 || H5Tequal(type.id, memory_type) <= 0 || H5Pget_layout(layout.id) != H5D_CHUNKED ||
        !plain_filters(layout.id, checksum) || !checksum || H5Sget_simple_extent_dims(space.id, shape.data(), nullptr) != rank ||
        H5Pget_chunk(layout.id, rank, chunk.data()) != rank || chunk[1] != shape[1] || first % chunk[0] != 0 || first + rows > shape[0] ||
        (rows % chunk[0] != 0 && first + rows != shape[0]))
        return false;
    const std::uint64_t row_bytes = shape[1] * H5Tget_size(type.id), bytes = chunk[0] * row_bytes;
    const hsize_t chunks = (rows + chunk[0] - 1) / chunk[0];
    // A chunk of zeros with its checksum: valid even where a version of HDF5 writes from a copy of it.
    const std::vector<unsigned char> zero_chunk(bytes + checksum_bytes);
    to.reserve_from(zero_chunk.data(), zero_chunk.size());
    bool placed = true;
    for (hsize_t k = 0; k < chunks && placed; ++k) {
        const std::array<hsize_t, 2> offset{first + k * chunk[0], 0};
        placed = H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset.data(), zero_chunk.size(), zero_chunk.data()) >= 0;
    }
    const auto addresses = to.reserved();
    if (!placed || addresses.size() != chunks) return false;
    // The last chunk of the data set is stored whole.
    const auto rest = rows % chunk[0] * row_bytes;
    std::vector<unsigned char> padded(rest > 0 ? bytes : 0);
    const auto* all = static_cast<const unsigned char*>(from);
    if (rest > 0) std::memcpy(padded.data(), all + rows * row_bytes - rest, rest);
    const auto block = [&](hsize_t k) { return rest > 0 && k + 1 == chunks ? padded.data() : all + k * bytes; };

    // One thread writes a group of chunks, one starts the disk on the group before, and the others compute the checksums of the next group.
    const hsize_t at_most = std::max<hsize_t>(1, written_at_once / bytes);
    std::vector<std::array<unsigned char, checksum_bytes>> sums(chunks);
    const auto compute = [&](hsize_t k) {
        const auto sum = fletcher32(block(k), bytes);
        for (std::uint64_t byte = 0; byte < checksum_bytes; ++byte) sums[k][byte] = static_cast<unsigned char>(sum >> 8 * byte);
    };
    std::vector<iovec> parts(2 * std::min(chunks, at_most));
    const auto write = [&](hsize_t k, hsize_t end) {
        while (k < end) {
            const auto address = addresses[k];
            std::size_t n = 0;
            for (; k < end && addresses[k] == address + n / 2 * zero_chunk.size(); ++k) {
                parts[n++] = {const_cast<unsigned char*>(block(k)), bytes};  // pwritev only reads it
                parts[n++] = {sums[k].data(), checksum_bytes};
            }
            to.write(address, std::span(parts).first(n));
        }
    };
    const auto start = [&](hsize_t k, hsize_t end) {
        for (; k < end; ++k) to.start_disk(addresses[k], zero_chunk.size());
    };
    for (hsize_t summed = 0, written = 0, started = 0; started < chunks;) {
        const auto next = std::min(summed + at_most, chunks);
        for_each_part(thread_count(Cpu{}), static_cast<index_t>(2 + next - summed), [&](index_t part) {
            if (part == 0)
                write(written, summed);
            else if (part == 1)
                start(started, written);
            else
                compute(summed + static_cast<hsize_t>(part) - 2);
        });
        started = written;
        written = summed;
        summed = next;
    }
    return true;
}

}  // namespace kasane::hdf5
