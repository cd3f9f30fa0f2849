#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/core/io/hdf5_driver.hpp>

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace kasane::hdf5 {
namespace {

constexpr std::uint64_t worth_starting = 8ull << 20;  // bytes

}  // namespace

OutputFile::~OutputFile() { close(); }

void OutputFile::close() {
    if (descriptor_ < 0) return;
    if (::close(descriptor_) != 0 && error_ == 0) error_ = errno;
    descriptor_ = -1;
}

void OutputFile::write(std::uint64_t address, const void* bytes, std::uint64_t count) {
    length = std::max(length, address + count);
    if (bytes == reserved_from_ && count == reserved_bytes_) {
        reserved_.push_back(address);
        return;
    }
    const auto* from = static_cast<const char*>(bytes);
    std::uint64_t begun = 0, done = 0;  // of the parts before `begun` the disk has begun; those before `done` are written
    while (done < count) {
        const auto now = std::min(count - done, worth_starting);
        for_each_part(std::min(2, thread_count(Cpu{})), done > begun ? 2 : 1, [&](index_t part) {
            if (part == 0)
                put(address + done, from + done, now);
            else
                start_disk(address + begun, done - begun);
        });
        begun = done;
        done += now;
    }
    start_disk(address + begun, done - begun);
}

void OutputFile::put(std::uint64_t address, const char* from, std::uint64_t count) {
    while (count > 0 && error_ == 0) {
        const auto written = ::pwrite(descriptor_, from, count, static_cast<off_t>(address));
        if (written < 0) {
            error_ = errno == EINTR ? 0 : errno;
            continue;
        }
        const auto done = static_cast<std::uint64_t>(written);
        address += done;
        from += done;
        count -= done;
    }
}

void OutputFile::write(std::uint64_t address, std::span<iovec> parts) {
    constexpr std::size_t most = 1024;  // parts of one call: the limit of Linux
    for (std::size_t first = 0; first < parts.size() && error_ == 0;) {
        const auto now = static_cast<int>(std::min(parts.size() - first, most));
        const auto written = ::pwritev(descriptor_, parts.data() + first, now, static_cast<off_t>(address));
        if (written < 0) {
            error_ = errno == EINTR ? 0 : errno;
            continue;
        }
        auto done = static_cast<std::size_t>(written);
        address += done;
        length = std::max(length, address);
        for (; first < parts.size() && done >= parts[first].iov_len; ++first) done -= parts[first].iov_len;
        if (first < parts.size()) parts[first] = {static_cast<char*>(parts[first].iov_base) + done, parts[first].iov_len - done};
    }
}

void OutputFile::reserve_from(const void* source, std::uint64_t bytes) {
    reserved_from_ = source;
    reserved_bytes_ = bytes;
    reserved_.clear();
}

std::vector<std::uint64_t> OutputFile::reserved() {
    reserved_from_ = nullptr;
    return std::exchange(reserved_, {});
}

void OutputFile::start_disk(std::uint64_t address, std::uint64_t count) {
#if defined(SYNC_FILE_RANGE_WRITE)
    if (address != written_end_) written_begin_ = address;
    written_end_ = address + count;
    if (written_end_ - written_begin_ < worth_starting) return;
    ::sync_file_range(descriptor_, static_cast<off_t>(written_begin_), static_cast<off_t>(written_end_ - written_begin_),
                      SYNC_FILE_RANGE_WRITE);
    written_begin_ = written_end_;
#endif
}

void OutputFile::read(std::uint64_t address, void* bytes, std::uint64_t count) {
    auto* to = static_cast<char*>(bytes);
    while (count > 0) {
        const auto got = ::pread(descriptor_, to, count, static_cast<off_t>(address));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && error_ == 0) error_ = errno;
        if (got <= 0) break;
        address += static_cast<std::uint64_t>(got);
        to += got;
        count -= static_cast<std::uint64_t>(got);
    }
    std::memset(to, 0, count);
}

void OutputFile::resize(std::uint64_t to) {
    if (error_ == 0 && ::ftruncate(descriptor_, static_cast<off_t>(to)) != 0) error_ = errno;
    length = to;
}

namespace {

/// The object of an open file that HDF5 refers to.
struct DriverFile {
    H5FD_t shared;  // first: HDF5 has a pointer to it
    OutputFile* file;
};

/// The address of the file, in the access properties.
struct DriverInfo {
    OutputFile* file;
};

OutputFile& file_of(const H5FD_t* opened) { return *reinterpret_cast<const DriverFile*>(opened)->file; }

H5FD_t* open_file(const char*, unsigned flags, hid_t access, haddr_t) {
    const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
    auto* opened = info ? new (std::nothrow) DriverFile{{}, info->file} : nullptr;
    if (!opened) return nullptr;
    if ((flags & H5F_ACC_TRUNC) != 0) info->file->resize(0);
    return &opened->shared;
}

herr_t close_file(H5FD_t* opened) {
    delete reinterpret_cast<DriverFile*>(opened);
    return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
    if (&file_of(a) == &file_of(b)) return 0;
    return std::less<>{}(&file_of(a), &file_of(b)) ? -1 : 1;
}

herr_t query(const H5FD_t*, unsigned long* features) {
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t allocated(const H5FD_t* opened, H5FD_mem_t) { return file_of(opened).allocated; }

herr_t set_allocated(H5FD_t* opened, H5FD_mem_t, haddr_t end) {
    file_of(opened).allocated = end;
    return 0;
}

haddr_t length(const H5FD_t* opened, H5FD_mem_t) { return file_of(opened).length; }

herr_t read(H5FD_t* opened, H5FD_mem_t, hid_t, haddr_t address, size_t count, void* to) {
    file_of(opened).read(address, to, count);
    return 0;
}

herr_t write(H5FD_t* opened, H5FD_mem_t, hid_t, haddr_t address, size_t count, const void* from) {
    file_of(opened).write(address, from, count);
    return 0;
}

/// The length that a reader expects is the allocated one.
herr_t truncate(H5FD_t* opened, hid_t, hbool_t) {
    auto& file = file_of(opened);
    if (file.length != file.allocated) file.resize(file.allocated);
    return 0;
}

constexpr H5FD_class_t make_driver() {
    H5FD_class_t driver{};
#if defined(H5FD_CLASS_VERSION)
    driver.version = H5FD_CLASS_VERSION;
    driver.value = static_cast<H5FD_class_value_t>(300);  // 256 to 511 are free for drivers that are not registered
#endif
    driver.name = "kasane_output";
    driver.maxaddr = (haddr_t{1} << 62);
    driver.fc_degree = H5F_CLOSE_WEAK;
    driver.fapl_size = sizeof(DriverInfo);
    driver.open = open_file;
    driver.close = close_file;
    driver.cmp = compare;
    driver.query = query;
    driver.get_eoa = allocated;
    driver.set_eoa = set_allocated;
    driver.get_eof = length;
    driver.read = read;
    driver.write = write;
    driver.truncate = truncate;
    constexpr H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    for (int type = 0; type < H5FD_MEM_NTYPES; ++type) driver.fl_map[type] = map[type];
    return driver;
}

}  // namespace

herr_t set_output_driver(hid_t access, OutputFile& file) {
    static constexpr H5FD_class_t driver = make_driver();
    static const hid_t registered = H5FDregister(&driver);
    const DriverInfo info{&file};
    return registered < 0 ? -1 : H5Pset_driver(access, registered, &info);
}

}  // namespace kasane::hdf5
