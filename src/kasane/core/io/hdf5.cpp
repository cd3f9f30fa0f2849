#include <kasane/core/base/error.hpp>
#include <kasane/core/base/memory_error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/core/io/hdf5_blocks.hpp>
#include <kasane/core/io/hdf5_driver.hpp>
#include <kasane/core/io/input_file.hpp>

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <fcntl.h>
#include <limits>
#include <utility>
#include <unistd.h>

namespace kasane::hdf5 {

namespace {

constexpr std::uint64_t largest_chunk = 64ull << 20;     // a chunk is read as a whole: larger ones only where the data set is larger
constexpr std::uint64_t largest_attribute = 1ull << 20;  // HDF5's own limit is 64 KiB except for dense storage

/// Closes one HDF5 object at the end of its scope.
class Handle {
   public:
    using Closer = herr_t (*)(hid_t);
    Handle(hid_t id, Closer close) : id_(id), close_(close) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&&) = delete;
    operator hid_t() const { return id_; }
    bool valid() const { return id_ >= 0; }

   private:
    hid_t id_;
    Closer close_;
};

Where in_file(const std::filesystem::path& path) { return {path.string(), 0, 0, {}}; }

/// The innermost message of HDF5's error stack: the cause, not the chain of callers.
std::string reason() {
    std::string text;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
            auto& innermost = *static_cast<std::string*>(out);
            if (innermost.empty() && error->desc != nullptr) innermost = error->desc;
            return 0;
        },
        &text);
    H5Eclear2(H5E_DEFAULT);
    return text.empty() ? "no reason given" : text;
}

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

hid_t memory_type(Number kind) {
    switch (kind) {
        case Number::i8: return H5T_NATIVE_INT8;
        case Number::u8: return H5T_NATIVE_UINT8;
        case Number::i16: return H5T_NATIVE_INT16;
        case Number::u16: return H5T_NATIVE_UINT16;
        case Number::i32: return H5T_NATIVE_INT32;
        case Number::u32: return H5T_NATIVE_UINT32;
        case Number::i64: return H5T_NATIVE_INT64;
        case Number::u64: return H5T_NATIVE_UINT64;
        case Number::f32: return H5T_NATIVE_FLOAT;
        default: return H5T_NATIVE_DOUBLE;
    }
}

bool is_integer(Number kind) { return kind != Number::f32 && kind != Number::f64; }

/// Files are little-endian whatever machine wrote them.
hid_t file_type(Number kind) {
    switch (kind) {
        case Number::i8: return H5T_STD_I8LE;
        case Number::u8: return H5T_STD_U8LE;
        case Number::i16: return H5T_STD_I16LE;
        case Number::u16: return H5T_STD_U16LE;
        case Number::i32: return H5T_STD_I32LE;
        case Number::u32: return H5T_STD_U32LE;
        case Number::i64: return H5T_STD_I64LE;
        case Number::u64: return H5T_STD_U64LE;
        case Number::f32: return H5T_IEEE_F32LE;
        default: return H5T_IEEE_F64LE;
    }
}

/// Conversion stops at a value that the other type cannot hold, where HDF5 would clip it silently.
H5T_conv_ret_t on_conversion(H5T_conv_except_t what, hid_t, hid_t, void*, void*, void*) {
    return what == H5T_CONV_EXCEPT_RANGE_HI || what == H5T_CONV_EXCEPT_RANGE_LOW ? H5T_CONV_ABORT : H5T_CONV_UNHANDLED;
}

/// New properties of a kind; `set` fills them and returns HDF5's status. They fail only without memory, but then silently: a file
/// would lose its checksums.
template <class Set>
Handle properties_of(hid_t kind, Set set) {
    Handle properties(H5Pcreate(kind), H5Pclose);
    if (!properties.valid() || set(properties) < 0) throw ComputationError("HDF5 cannot make a list of properties: " + reason());
    return properties;
}

Handle transfer_properties() {
    return properties_of(H5P_DATASET_XFER, [](hid_t list) { return H5Pset_type_conv_cb(list, on_conversion, nullptr); });
}

/// Creation properties under which the same content makes the same file, byte for byte.
Handle without_times(hid_t kind) {
    return properties_of(kind, [](hid_t list) { return H5Pset_obj_track_times(list, false); });
}

/// Number types that the wrapper converts: whole bytes, at most eight.
bool plain_number(hid_t type) {
    const auto kind = H5Tget_class(type);
    return (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Tget_size(type) >= 1 && H5Tget_size(type) <= 8;
}

/// a * b, or the largest number when it does not fit.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

std::vector<std::uint64_t> shape_of(hid_t space) {
    std::array<hsize_t, H5S_MAX_RANK> extent{};
    const int rank = H5Sget_simple_extent_dims(space, extent.data(), nullptr);
    return {extent.begin(), extent.begin() + std::max(rank, 0)};
}

std::uint64_t count_of(const std::vector<std::uint64_t>& shape) {
    std::uint64_t count = 1;
    for (const auto extent : shape) {
        if (extent == 0) return 0;
        count = product(count, extent);
    }
    return count;
}

std::string text_of(const std::vector<std::uint64_t>& shape) {
    std::string text;
    for (const auto extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return text;
}

}  // namespace

bool is_hdf5(const std::filesystem::path& path) {
    constexpr std::array<char, 8> signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    std::ifstream file(path, std::ios::binary);
    KS_VALIDATE(file.good(), fmt::format("cannot be read: {}", std::strerror(errno)), in_file(path));
    std::array<char, 8> start{};
    for (std::streamoff at = 0; at <= (1 << 20); at = at == 0 ? 512 : 2 * at) {
        if (!file.seekg(at) || !file.read(start.data(), start.size())) return false;
        if (start == signature) return true;
    }
    return false;
}

File::File(std::int64_t id, std::filesystem::path path) : id_(id), path_(std::move(path)) {}

File File::open(const std::filesystem::path& path) {
    silence();
    io::check_regular_file(path, "an HDF5 file");
    KS_VALIDATE(is_hdf5(path), "is not an HDF5 file: the signature is missing", in_file(path));
    const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    KS_VALIDATE(id >= 0, fmt::format("cannot be opened as HDF5: it is truncated or corrupt ({})", reason()), in_file(path));
    return File(id, path);
}

File File::create(const std::filesystem::path& path) {
    silence();
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) throw ComputationError(fmt::format("cannot create {}: {}", path.string(), std::strerror(errno)));
    File file(-1, path);
    file.output_ = std::make_unique<OutputFile>(descriptor);
    // The file format of HDF5 1.10 has a checksum on all structures of HDF5; the older default format has none, and
    // HDF5 may crash on a changed byte. The superblock stays at 1.8's: 1.10's is marked as being written until HDF5 closes it.
    const auto access = properties_of(H5P_FILE_ACCESS, [&](hid_t list) {
        return std::min(set_output_driver(list, *file.output_), H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_LATEST));
    });
    const auto root = without_times(H5P_FILE_CREATE);
    file.id_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, root, access);
    if (file.id_ < 0 || H5Fset_libver_bounds(file.id_, H5F_LIBVER_V110, H5F_LIBVER_LATEST) < 0) {
        file.check_disk();
        throw ComputationError(fmt::format("cannot create {}: {}", path.string(), reason()));
    }
    return file;
}

File::~File() {
    if (id_ >= 0) H5Fclose(id_);
}

File::File(File&& other) noexcept : output_(std::move(other.output_)), id_(std::exchange(other.id_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
    if (this != &other) {
        if (id_ >= 0) H5Fclose(id_);
        id_ = std::exchange(other.id_, -1);
        output_ = std::move(other.output_);
        path_ = std::move(other.path_);
    }
    return *this;
}

void File::close() {
    if (id_ < 0) return;
    const bool flushed = !output_ || H5Fflush(id_, H5F_SCOPE_LOCAL) >= 0;
    const auto why = flushed ? std::string() : reason();
    const bool closed = H5Fclose(std::exchange(id_, -1)) >= 0;
    if (!output_) return;
    output_->close();
    check_disk();
    if (!flushed || !closed) throw ComputationError(fmt::format("cannot write {}: {}", path_.string(), flushed ? reason() : why));
}

/// @throws ComputationError if a write has failed
void File::check_disk() const {
    const int error = output_ ? output_->error() : 0;
    if (error == 0) return;
    const bool full = error == ENOSPC || error == EDQUOT;
    const auto needed = full || error == EFBIG ? fmt::format(": at least {} MiB are needed", (output_->length >> 20) + 1) : std::string();
    throw ComputationError(fmt::format("cannot write {}: {}{}{}", AtomicFile::target_of(path_).string(), full ? "disk full: " : "",
                                       std::strerror(error), needed));
}

void File::fail(const std::string& object, const std::string& problem) const {
    check_disk();
    if (output_) throw ComputationError(fmt::format("cannot write {}: {}: {}", path_.string(), object, problem));
    throw InputError(problem, Where{.file = path_.string(), .key = object});
}

namespace {
constexpr const char* in_other_files = "the data lie in other files: copy them into this one";

/// Called where a link leads into another file. Refuses it: that file has not been checked, and opening a pipe could block for ever.
herr_t refuse_external(const char*, const char*, const char*, const char*, unsigned*, hid_t, void* found) {
    *static_cast<bool*>(found) = true;
    return -1;
}
}  // namespace

bool File::exists(const std::string& object) const {
    bool external = false;
    const auto inside = properties_of(H5P_LINK_ACCESS, [&](hid_t list) { return H5Pset_elink_cb(list, refuse_external, &external); });
    // H5Lexists requires that every component above exists, so check from the root down.
    for (std::size_t end = 1; end != std::string::npos && end < object.size();) {
        end = object.find('/', end);
        const auto part = object.substr(0, end);
        if (H5Lexists(id_, part.c_str(), inside) <= 0 || H5Oexists_by_name(id_, part.c_str(), inside) <= 0) {
            H5Eclear2(H5E_DEFAULT);
            if (external) fail(part, in_other_files);
            return false;
        }
        if (end != std::string::npos) ++end;
    }
    return true;
}

namespace {
bool is_kind(hid_t file, const std::string& object, H5I_type_t kind) {
    const Handle opened(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
    H5Eclear2(H5E_DEFAULT);
    return opened.valid() && H5Iget_type(opened) == kind;
}
}  // namespace

bool File::is_group(const std::string& object) const { return exists(object) && is_kind(id_, object, H5I_GROUP); }
bool File::is_dataset(const std::string& object) const { return exists(object) && is_kind(id_, object, H5I_DATASET); }

std::vector<std::string> File::names_in(const std::string& group) const {
    if (!is_group(group)) fail(group, "there is no such group");
    const Handle opened(H5Gopen2(id_, group.c_str(), H5P_DEFAULT), H5Gclose);
    std::vector<std::string> names;
    hsize_t next = 0;
    const herr_t done = H5Literate(
        opened, H5_INDEX_NAME, H5_ITER_INC, &next,
        [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
            static_cast<std::vector<std::string>*>(out)->emplace_back(name);
            return 0;
        },
        &names);
    if (done < 0) fail(group, "the group cannot be read: " + reason());
    return names;
}

namespace {
/// "/a" of "/a/b"; empty: the root, which is always there.
std::string above(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}
}  // namespace

void File::create_group(const std::string& group) {
    if (group.empty() || exists(group)) return;
    create_group(above(group));
    const auto how = without_times(H5P_GROUP_CREATE);
    const Handle opened(H5Gcreate2(id_, group.c_str(), H5P_DEFAULT, how, H5P_DEFAULT), H5Gclose);
    if (!opened.valid()) fail(group, reason());
}

DatasetInfo File::dataset(const std::string& dataset) const {
    if (!is_dataset(dataset)) fail(dataset, "there is no such data set");
    const Handle opened(H5Dopen2(id_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle layout(opened.valid() ? H5Dget_create_plist(opened) : -1, H5Pclose);
    if (!layout.valid()) fail(dataset, "the data set is corrupt: " + reason());
    const auto form = H5Pget_layout(layout);
    if (form == H5D_VIRTUAL || H5Pget_external_count(layout) > 0) fail(dataset, in_other_files);
    const Handle type(H5Dget_type(opened), H5Tclose);
    const Handle space(H5Dget_space(opened), H5Sclose);
    if (!type.valid() || !space.valid()) fail(dataset, "the data set is corrupt: " + reason());
    if (!plain_number(type)) fail(dataset, "does not hold plain numbers");
    if (H5Sget_simple_extent_type(space) == H5S_NULL) fail(dataset, "the data set is empty");

    DatasetInfo info;
    info.shape = shape_of(space);
    info.integer = H5Tget_class(type) == H5T_INTEGER;
    info.bytes = static_cast<int>(H5Tget_size(type));
    info.stored_bytes = H5Dget_storage_size(opened);
    const auto bytes = product(count_of(info.shape), H5Tget_size(type));
    const auto corrupt = [&](const std::string& what) { fail(dataset, "the data set is corrupt: " + what); };
    if (form == H5D_CHUNKED) {
        std::array<hsize_t, H5S_MAX_RANK> extent{};
        const int rank = H5Pget_chunk(layout, H5S_MAX_RANK, extent.data());
        const auto chunk = product(count_of({extent.begin(), extent.begin() + std::max(rank, 0)}), H5Tget_size(type));
        if (static_cast<std::size_t>(std::max(rank, 0)) != info.shape.size() || chunk == 0) corrupt("chunks of another shape");
        if (chunk > std::max(bytes, largest_chunk)) corrupt(fmt::format("chunks of {} bytes", chunk));
        if (info.stored_bytes != 0 && !output_) {
            // Each stored chunk takes some of the file; a missing one would be read as zeros.
            hsize_t stored = 0;
            std::uint64_t wanted = 1;
            for (std::size_t d = 0; d < info.shape.size(); ++d)
                wanted = product(wanted, info.shape[d] / extent[d] + (info.shape[d] % extent[d] != 0));
            if (H5Dget_num_chunks(opened, space, &stored) < 0) corrupt(reason());
            if (stored < wanted)
                fail(dataset, fmt::format("only {} of its {} chunks were written: the file is incomplete", stored, wanted));
        }
    } else if (info.stored_bytes != 0 && !output_) {
        const auto file_bytes = std::filesystem::file_size(path_);
        if (bytes > file_bytes) corrupt(fmt::format("it claims {} bytes in a file of {}", bytes, file_bytes));
    }
    return info;
}

void File::check_memory(const std::string& name, std::uint64_t needed) const {
    const auto available = available_memory(Cpu{});
    if (needed > available) throw MemoryError("does not fit into memory", needed, available, {path_.string(), 0, 0, name});
}

void File::check_written(const std::string& name, const DatasetInfo& info) const {
    if (count_of(info.shape) > 0 && info.stored_bytes == 0) fail(name, "was declared but never written");
}

std::uint64_t File::checked_rows(const std::string& name, std::size_t row_bytes, int components) const {
    const auto info = dataset(name);
    const auto& shape = info.shape;
    const bool fits = components == 1 ? shape.size() <= 1 || (shape.size() == 2 && shape[1] == 1)
                                      : shape.size() == 2 && shape[1] == static_cast<std::uint64_t>(components);
    if (!fits)
        fail(name,
             fmt::format("has shape ({}), and ({}) is required", text_of(shape), components == 1 ? "N" : fmt::format("N, {}", components)));
    check_written(name, info);
    check_memory(name, product(info.rows(), row_bytes));
    return info.rows();
}

std::uint64_t File::checked_count(const std::string& name, std::size_t bytes, const std::vector<std::uint64_t>& shape) const {
    const auto info = dataset(name);
    if (!shape.empty() && info.shape != shape)
        fail(name, fmt::format("has shape ({}), and ({}) is required", text_of(info.shape), text_of(shape)));
    check_written(name, info);
    check_memory(name, product(count_of(info.shape), bytes));
    return count_of(info.shape);
}

void File::read_numbers(const std::string& name, Number kind, void* to, index_t rows, int components) const {
    const auto info = dataset(name);
    const auto n = static_cast<std::uint64_t>(rows);
    const auto width = static_cast<std::uint64_t>(components);
    const auto& shape = info.shape;
    const bool fits = width == 1 ? (shape.size() <= 1 || (shape.size() == 2 && shape[1] == 1)) && info.rows() == n
                                 : shape.size() == 2 && shape[0] == n && shape[1] == width;
    if (!fits) {
        fail(name, fmt::format("has shape ({}), and ({}) is required", text_of(shape),
                               text_of(width > 1 ? std::vector{n, width} : std::vector{n})));
    }
    read_all(name, kind, to);
}

void File::read_all(const std::string& name, Number kind, void* to) const {
    const auto info = dataset(name);
    if (is_integer(kind) && !info.integer) fail(name, "holds floating-point numbers, and integers are required");
    if (count_of(info.shape) == 0) return;
    check_written(name, info);
    const Handle opened(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (opened.valid() && !output_ && read_blocks(id_, opened, memory_type(kind), to)) return;
    const auto how = transfer_properties();
    if (!opened.valid() || H5Dread(opened, memory_type(kind), H5S_ALL, H5S_ALL, how, to) < 0) {
        fail(name, "cannot be read: it is truncated or corrupt, or holds a value out of range (" + reason() + ")");
    }
}

void File::read_part(const std::string& name, Number kind, void* to, index_t first, index_t rows, int components) const {
    const auto info = dataset(name);
    const auto begin = static_cast<std::uint64_t>(first), n = static_cast<std::uint64_t>(rows);
    const auto& shape = info.shape;
    const bool fits = components == 1 ? shape.size() == 1 || (shape.size() == 2 && shape[1] == 1)
                                      : shape.size() == 2 && shape[1] == static_cast<std::uint64_t>(components);
    if (!fits || begin > info.rows() || n > info.rows() - begin)
        fail(name, fmt::format("has shape ({}), and {} rows from row {} on are required", text_of(shape), n, begin));
    if (is_integer(kind) && !info.integer) fail(name, "holds floating-point numbers, and integers are required");
    if (n == 0) return;
    check_written(name, info);
    const std::array<hsize_t, 2> start{begin, 0}, extent{n, static_cast<hsize_t>(components)};
    const int rank = static_cast<int>(shape.size());
    const Handle memory(H5Screate_simple(rank, extent.data(), nullptr), H5Sclose);
    const Handle opened(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(opened.valid() ? H5Dget_space(opened) : -1, H5Sclose);
    const auto how = transfer_properties();
    if (!space.valid() || H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) < 0 ||
        H5Dread(opened, memory_type(kind), memory, space, how, to) < 0)
        fail(name, "cannot be read: it is truncated or corrupt, or holds a value out of range (" + reason() + ")");
}

void File::create_rows(const std::string& name, Number kind, index_t rows, int components, const DatasetOptions& options) {
    const std::array<hsize_t, 2> shape{static_cast<hsize_t>(rows), static_cast<hsize_t>(components)};
    const int rank = components == 1 ? 1 : 2;
    const Handle space(H5Screate_simple(rank, shape.data(), nullptr), H5Sclose);
    create_group(above(name));
    const auto layout = without_times(H5P_DATASET_CREATE);
    if ((options.checksum || options.compress) && rows > 0) {
        const std::array<hsize_t, 2> chunk{std::min(shape[0], static_cast<hsize_t>(chunk_rows)), shape[1]};
        if (H5Pset_chunk(layout, rank, chunk.data()) < 0) fail(name, reason());
        if (options.compress && (H5Pset_shuffle(layout) < 0 || H5Pset_deflate(layout, 1) < 0)) fail(name, reason());
        if (options.checksum && H5Pset_fletcher32(layout) < 0) fail(name, reason());
    }
    const bool narrow = options.single_precision && kind == Number::f64;
    const Handle made(H5Dcreate2(id_, name.c_str(), file_type(narrow ? Number::f32 : kind), space, H5P_DEFAULT, layout, H5P_DEFAULT),
                      H5Dclose);
    if (!made.valid()) fail(name, reason());
}

void File::write_numbers(const std::string& name, Number kind, const void* from, index_t first, index_t rows, int components) {
    if (rows == 0) return;
    const std::array<hsize_t, 2> start{static_cast<hsize_t>(first), 0};
    const std::array<hsize_t, 2> shape{static_cast<hsize_t>(rows), static_cast<hsize_t>(components)};
    const Handle memory(H5Screate_simple(components == 1 ? 1 : 2, shape.data(), nullptr), H5Sclose);
    const Handle opened(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(opened.valid() ? H5Dget_space(opened) : -1, H5Sclose);
    const auto how = transfer_properties();
    if (!space.valid() || H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr) < 0)
        fail(name, reason());
    if (!write_blocks(*output_, opened, memory_type(kind), start[0], shape[0], from) &&
        H5Dwrite(opened, memory_type(kind), memory, space, how, from) < 0)
        fail(name, reason());
    check_disk();
}

void File::create_shaped(const std::string& name, Number kind, const std::vector<std::uint64_t>& shape) {
    const std::vector<hsize_t> extent(shape.begin(), shape.end());
    const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
    create_group(above(name));
    const auto layout = without_times(H5P_DATASET_CREATE);
    const Handle made(H5Dcreate2(id_, name.c_str(), file_type(kind), space, H5P_DEFAULT, layout, H5P_DEFAULT), H5Dclose);
    if (!made.valid()) fail(name, reason());
}

void File::write_shaped(const std::string& name, Number kind, const void* from, const std::vector<std::uint64_t>& shape) {
    create_shaped(name, kind, shape);
    const Handle made(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!made.valid() || H5Dwrite(made, memory_type(kind), H5S_ALL, H5S_ALL, H5P_DEFAULT, from) < 0) fail(name, reason());
    check_disk();
}

void File::write_entries(const std::string& name, Number kind, const void* from, std::uint64_t first, std::uint64_t count) {
    if (count == 0) return;
    const Handle opened(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(opened.valid() ? H5Dget_space(opened) : -1, H5Sclose);
    if (!space.valid()) fail(name, reason());
    // The dimension whose entries are the largest that divide the part.
    const auto shape = shape_of(space);
    std::vector<hsize_t> start(shape.size()), extent(shape.begin(), shape.end());
    std::uint64_t entry = count_of(shape), rest = first;
    bool good = first < entry && count <= entry - first, found = false;
    for (std::size_t d = 0; good && !found && d < shape.size(); ++d) {
        entry /= shape[d];
        start[d] = rest / entry;
        rest %= entry;
        found = rest == 0 && count % entry == 0;
        extent[d] = found ? count / entry : 1;
        good = start[d] + extent[d] <= shape[d];
    }
    KS_REQUIRE(good, fmt::format("{} numbers from {} on are not a part of an array ({}) that can be written at once", count, first,
                                 text_of(shape)));
    const hsize_t numbers = count;
    const Handle memory(H5Screate_simple(1, &numbers, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) < 0 ||
        H5Dwrite(opened, memory_type(kind), memory, space, H5P_DEFAULT, from) < 0)
        fail(name, reason());
    check_disk();
}

bool File::has_attribute(const std::string& object, const std::string& name) const {
    if (!exists(object)) return false;
    const auto found = H5Aexists_by_name(id_, object.c_str(), name.c_str(), H5P_DEFAULT);
    if (found < 0) fail(object, "the attributes are corrupt: " + reason());
    return found > 0;
}

namespace {

struct OpenAttribute {
    Handle id, type, space;

    OpenAttribute(hid_t file, const std::string& object, const std::string& name)
        : id(H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose),
          type(id.valid() ? H5Aget_type(id) : -1, H5Tclose),
          space(id.valid() ? H5Aget_space(id) : -1, H5Sclose) {}
    bool valid() const { return type.valid() && space.valid() && H5Sget_simple_extent_type(space) != H5S_NULL; }
    std::uint64_t count() const { return count_of(shape_of(space)); }
    bool sane() const { return product(count(), H5Tget_size(type)) <= largest_attribute; }
};

std::string attribute_path(const std::string& object, const std::string& name) { return object + "@" + name; }

/// `from` as T. @returns false when T cannot hold it
template <class T, class From>
bool convert(From from, void* to, std::size_t i) {
    if constexpr (std::integral<T>) {
        if (!std::in_range<T>(from)) return false;
    }
    static_cast<T*>(to)[i] = static_cast<T>(from);
    return true;
}

template <class From>
bool convert(From from, Number kind, void* to, std::size_t i) {
    if (kind == Number::f32) return convert<float>(from, to, i);
    if (kind == Number::f64) return convert<double>(from, to, i);
    if constexpr (std::integral<From>) {
        switch (kind) {
            case Number::i8: return convert<std::int8_t>(from, to, i);
            case Number::u8: return convert<std::uint8_t>(from, to, i);
            case Number::i16: return convert<std::int16_t>(from, to, i);
            case Number::u16: return convert<std::uint16_t>(from, to, i);
            case Number::i32: return convert<std::int32_t>(from, to, i);
            case Number::u32: return convert<std::uint32_t>(from, to, i);
            case Number::i64: return convert<std::int64_t>(from, to, i);
            default: return convert<std::uint64_t>(from, to, i);
        }
    }
    return false;
}

/// Reads as the widest type of the same class and sign, then narrows with a check (H5Aread has no conversion call-back).
template <class From>
bool read_wide(hid_t attribute, Number wide, Number kind, void* to, std::size_t n, bool& in_range) {
    std::vector<From> values(n);
    if (H5Aread(attribute, memory_type(wide), values.data()) < 0) return false;
    for (std::size_t i = 0; i < n; ++i) in_range = in_range && convert(values[i], kind, to, i);
    return true;
}

}  // namespace

std::uint64_t File::attribute_size(const std::string& object, const std::string& name) const {
    if (!has_attribute(object, name)) fail(attribute_path(object, name), "there is no such attribute");
    const OpenAttribute attribute(id_, object, name);
    if (!attribute.valid() || !attribute.sane()) fail(attribute_path(object, name), "the attribute is corrupt: " + reason());
    return attribute.count();
}

void File::read_attribute(const std::string& object, const std::string& name, Number kind, void* to, std::size_t n) const {
    const auto path = attribute_path(object, name);
    if (!has_attribute(object, name)) fail(path, "there is no such attribute");
    const OpenAttribute attribute(id_, object, name);
    if (!attribute.valid() || !attribute.sane()) fail(path, "the attribute is corrupt: " + reason());
    if (!plain_number(attribute.type)) fail(path, "is not a number");
    if (attribute.count() != n) fail(path, fmt::format("holds {} numbers, and {} are required", attribute.count(), n));
    const bool integer = H5Tget_class(attribute.type) == H5T_INTEGER;
    if (is_integer(kind) && !integer) fail(path, "is a floating-point number, and an integer is required");
    bool in_range = true;
    const bool done = !integer ? read_wide<double>(attribute.id, Number::f64, kind, to, n, in_range)
                      : H5Tget_sign(attribute.type) == H5T_SGN_NONE
                          ? read_wide<std::uint64_t>(attribute.id, Number::u64, kind, to, n, in_range)
                          : read_wide<std::int64_t>(attribute.id, Number::i64, kind, to, n, in_range);
    if (!done) fail(path, "cannot be read: " + reason());
    if (!in_range) fail(path, "holds a number out of range");
}

std::string File::text_attribute(const std::string& object, const std::string& name) const {
    const auto path = attribute_path(object, name);
    if (!has_attribute(object, name)) fail(path, "there is no such attribute");
    const OpenAttribute attribute(id_, object, name);
    if (!attribute.valid() || !attribute.sane()) fail(path, "the attribute is corrupt: " + reason());
    if (H5Tget_class(attribute.type) != H5T_STRING || attribute.count() != 1) fail(path, "is not a text");
    if (H5Tis_variable_str(attribute.type) > 0) {
        char* text = nullptr;
        const Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
        if (H5Tset_size(memory, H5T_VARIABLE) < 0 || H5Tset_cset(memory, H5Tget_cset(attribute.type)) < 0 ||
            H5Aread(attribute.id, memory, &text) < 0) {
            fail(path, "cannot be read: " + reason());
        }
        const std::string result = text == nullptr ? "" : text;
        H5free_memory(text);
        return result;
    }
    std::string text(H5Tget_size(attribute.type), '\0');
    if (H5Aread(attribute.id, attribute.type, text.data()) < 0) fail(path, "cannot be read: " + reason());
    const bool padded_with_blanks = H5Tget_strpad(attribute.type) == H5T_STR_SPACEPAD;
    text.resize(std::min(text.find('\0'), text.size()));
    if (padded_with_blanks) text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

namespace {
/// Creates the attribute again, whether or not it exists. @returns false on failure
bool put(hid_t file, const std::string& object, const std::string& name, hid_t stored, hid_t given, hid_t space, const void* value) {
    if (H5Aexists_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT) > 0 &&
        H5Adelete_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT) < 0) {
        return false;
    }
    const Handle made(H5Acreate_by_name(file, object.c_str(), name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
    return made.valid() && H5Awrite(made, given, value) >= 0;
}
}  // namespace

void File::write_attribute(const std::string& object, const std::string& name, Number kind, const void* from, std::size_t n) {
    const hsize_t extent = n;
    const Handle space(n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, nullptr), H5Sclose);
    if (!space.valid() || !put(id_, object, name, file_type(kind), memory_type(kind), space, from)) {
        fail(attribute_path(object, name), reason());
    }
}

void File::set_attribute(const std::string& object, const std::string& name, const std::string& text) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
    if (H5Tset_size(type, std::max<std::size_t>(text.size(), 1)) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
        H5Tset_cset(type, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8) < 0) {
        fail(attribute_path(object, name), reason());
    }
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const std::string padded = text.empty() ? std::string(1, '\0') : text;
    if (!put(id_, object, name, type, type, space, padded.data())) fail(attribute_path(object, name), reason());
}

}  // namespace kasane::hdf5
