// HDF5 files through paths: "/PartType1/Coordinates". A thin owner of one open file over the HDF5 C API (hdf5.h stays in the .cpp).
// Invariants: every call is checked; reading throws InputError, writing ComputationError, both naming file and object; shapes and
// number ranges are compared before a value is converted, so that a value is never clipped silently. HDF5's own printing is off.
// Data are written to the disk at once. Errors of the disk are hidden from HDF5 (hdf5_driver.hpp): the present or the next call throws
// them. One thread at a time: the HDF5 library that distributions build is not thread-safe.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/math/vec3.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kasane::hdf5 {

/// Kinds of numbers in files.
enum class Number { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

template <class T>
concept Arithmetic = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, float> || std::same_as<T, double>;

/// The kind of T, by its size and sign.
template <Arithmetic T>
constexpr Number number_of() {
    if constexpr (std::floating_point<T>) return sizeof(T) == 4 ? Number::f32 : Number::f64;
    constexpr bool is_signed = std::signed_integral<T>;
    switch (sizeof(T)) {
        case 1: return is_signed ? Number::i8 : Number::u8;
        case 2: return is_signed ? Number::i16 : Number::u16;
        case 4: return is_signed ? Number::i32 : Number::u32;
        default: return is_signed ? Number::i64 : Number::u64;
    }
}

/// One row of a data set in memory: a number, or a Vec3 (a row of three).
template <class T>
struct Row {
    using Component = T;
    static constexpr int components = 1;
};
template <class T>
struct Row<Vec3<T>> {
    using Component = T;
    static constexpr int components = 3;
};

struct DatasetInfo {
    std::vector<std::uint64_t> shape;  ///< empty: a scalar
    bool integer = false;
    int bytes = 0;                   ///< of one number in the file
    std::uint64_t stored_bytes = 0;  ///< bytes in the file; 0: declared, never written

    std::uint64_t rows() const { return shape.empty() ? 1 : shape[0]; }
};

inline constexpr index_t chunk_rows = 8192;  ///< of a data set with a checksum or compression

struct DatasetOptions {
    bool checksum = false;          ///< Fletcher32 over chunks: a changed byte makes reading fail
    bool compress = false;          ///< shuffled bytes and deflate (gzip) over chunks, without loss
    bool single_precision = false;  ///< store double as float; a value beyond float's range is an error
};

class OutputFile;

/// Whether the file begins as HDF5 files do (a user block of up to 1 MiB before it is allowed). @throws InputError: cannot be read.
bool is_hdf5(const std::filesystem::path& path);

class File {
   public:
    /// Opens a file for reading. @throws InputError: missing, a directory, no permission, not HDF5, truncated
    static File open(const std::filesystem::path& path);
    /// Creates a file; an existing one is emptied (AtomicFile keeps it until the end). @throws ComputationError: cannot be created
    static File create(const std::filesystem::path& path);
    /// Closes. Without close() a file that is being written is incomplete, and errors of the disk are not reported.
    ~File();
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;

    /// Completes and closes. @throws ComputationError (disk full)
    void close();
    const std::filesystem::path& path() const { return path_; }

    /// @throws InputError for a link into another file, which is not followed
    bool exists(const std::string& object) const;
    bool is_group(const std::string& object) const;
    bool is_dataset(const std::string& object) const;
    /// Names of the links of a group, sorted.
    std::vector<std::string> names_in(const std::string& group) const;
    /// Creates a group with this absolute path, and the groups above it; an existing group stays unchanged.
    void create_group(const std::string& group);

    /// Returns shape and number type. @throws InputError: missing, not of numbers, larger than the file can back up, written in part only
    DatasetInfo dataset(const std::string& dataset) const;

    /// Fills `to` from a data set of shape (n) or (n, 1), for Vec3 (n, 3), of any number type that T holds without loss of range.
    /// @throws InputError: missing, another shape, integers expected but other numbers found, out of range, corrupt (checksum)
    template <class T>
    void read(const std::string& dataset, View<T> to) const {
        read_numbers(dataset, number_of<typename Row<T>::Component>(), to.ptr, to.n, Row<T>::components);
    }
    /// Fills `to` from the rows first, first + 1, ... of a data set of such a shape. With a checksum whole chunks (chunk_rows) are
    /// cheapest.
    /// @throws InputError as read(), and where the data set has fewer rows
    template <class T>
    void read_rows(const std::string& dataset, index_t first, View<T> to) const {
        read_part(dataset, number_of<typename Row<T>::Component>(), to.ptr, first, to.n, Row<T>::components);
    }
    /// Reads the whole data set; memory is allocated only after its size was compared with that of the file and of this machine's memory.
    template <class T>
    std::vector<T> read(const std::string& dataset) const {
        std::vector<T> all;
        resize_touched(all, checked_rows(dataset, sizeof(T), Row<T>::components));
        read(dataset, view(all));
        return all;
    }
    /// Declares a data set of shape (rows), for Vec3 (rows, 3), to be filled by write_rows(); the groups above it are made.
    template <class T>
    void create_dataset(const std::string& dataset, index_t rows, const DatasetOptions& options = {}) {
        create_rows(dataset, number_of<typename Row<T>::Component>(), rows, Row<T>::components, options);
    }
    /// Fills the rows first, first + 1, ... of a data set that is being written. With a checksum whole chunks (chunk_rows) are cheapest:
    /// all threads compute the checksums of many; a part of a chunk is read, changed and written again.
    template <class T>
    void write_rows(const std::string& dataset, index_t first, View<const T> from) {
        write_numbers(dataset, number_of<typename Row<T>::Component>(), from.ptr, first, from.n, Row<T>::components);
    }
    /// Writes a new data set of shape (n), for Vec3 (n, 3); the groups above it are made.
    template <class T>
    void write(const std::string& dataset, View<const T> from, const DatasetOptions& options = {}) {
        create_dataset<T>(dataset, from.n, options);
        write_rows(dataset, 0, from);
    }
    template <class T>
    void write(const std::string& dataset, const std::vector<T>& from, const DatasetOptions& options = {}) {
        write(dataset, view(from), options);
    }

    /// Reads all numbers of a data set of any shape in row-major order; `shape` is the required shape, empty: any.
    /// @throws InputError as read(), and naming both shapes
    template <Arithmetic T>
    std::vector<T> read_array(const std::string& dataset, const std::vector<std::uint64_t>& shape = {}) const {
        std::vector<T> all(checked_count(dataset, sizeof(T), shape));
        read_all(dataset, number_of<T>(), all.data());
        return all;
    }
    /// Writes a new data set of that shape from numbers in row-major order, as many as the shape has; the groups above it are made.
    template <Arithmetic T>
    void write_array(const std::string& dataset, const std::vector<std::uint64_t>& shape, View<const T> from) {
        write_shaped(dataset, number_of<T>(), from.ptr, shape);
    }
    /// Declares a data set of that shape, to be filled by write_part(); the groups above it are made. The file has the bytes of
    /// write_array().
    template <Arithmetic T>
    void create_array(const std::string& dataset, const std::vector<std::uint64_t>& shape) {
        create_shaped(dataset, number_of<T>(), shape);
    }
    /// Writes the numbers first, first + 1, ... in row-major order of a data set of create_array(): successive entries of one dimension
    /// with all entries of the dimensions after it.
    template <Arithmetic T>
    void write_part(const std::string& dataset, std::uint64_t first, View<const T> from) {
        write_entries(dataset, number_of<T>(), from.ptr, first, static_cast<std::uint64_t>(from.n));
    }

    bool has_attribute(const std::string& object, const std::string& name) const;
    /// Returns the number of values in an attribute of any shape.
    std::uint64_t attribute_size(const std::string& object, const std::string& name) const;

    /// Reads a scalar attribute (or an array of one). @throws InputError: missing, another size, not a number, out of T's range
    template <Arithmetic T>
    T attribute(const std::string& object, const std::string& name) const {
        return attribute_array<T, 1>(object, name)[0];
    }
    template <Arithmetic T, std::size_t n>
    std::array<T, n> attribute_array(const std::string& object, const std::string& name) const {
        std::array<T, n> values;
        read_attribute(object, name, number_of<T>(), values.data(), n);
        return values;
    }
    /// Reads all numbers of an attribute, in row-major order.
    template <Arithmetic T>
    std::vector<T> attribute_values(const std::string& object, const std::string& name) const {
        std::vector<T> values(attribute_size(object, name));
        read_attribute(object, name, number_of<T>(), values.data(), values.size());
        return values;
    }
    /// Reads a string attribute of fixed or variable length, without padding.
    std::string text_attribute(const std::string& object, const std::string& name) const;

    template <Arithmetic T>
    void set_attribute(const std::string& object, const std::string& name, T value) {
        write_attribute(object, name, number_of<T>(), &value, 0);
    }
    template <Arithmetic T, std::size_t n>
    void set_attribute(const std::string& object, const std::string& name, const std::array<T, n>& values) {
        write_attribute(object, name, number_of<T>(), values.data(), n);
    }
    /// Writes a string attribute with fixed length (readers such as yt fail on variable-length strings); HDF5 allows 64 KiB.
    void set_attribute(const std::string& object, const std::string& name, const std::string& text);

   private:
    File(std::int64_t id, std::filesystem::path path);
    void read_numbers(const std::string& dataset, Number kind, void* to, index_t rows, int components) const;
    void read_part(const std::string& dataset, Number kind, void* to, index_t first, index_t rows, int components) const;
    void create_rows(const std::string& dataset, Number kind, index_t rows, int components, const DatasetOptions& options);
    void write_numbers(const std::string& dataset, Number kind, const void* from, index_t first, index_t rows, int components);
    void read_all(const std::string& dataset, Number kind, void* to) const;
    void write_shaped(const std::string& dataset, Number kind, const void* from, const std::vector<std::uint64_t>& shape);
    void create_shaped(const std::string& dataset, Number kind, const std::vector<std::uint64_t>& shape);
    void write_entries(const std::string& dataset, Number kind, const void* from, std::uint64_t first, std::uint64_t count);
    void read_attribute(const std::string& object, const std::string& name, Number kind, void* to, std::size_t n) const;
    void write_attribute(const std::string& object, const std::string& name, Number kind, const void* from, std::size_t n);
    void check_written(const std::string& dataset, const DatasetInfo& info) const;
    std::uint64_t checked_rows(const std::string& dataset, std::size_t row_bytes, int components) const;
    std::uint64_t checked_count(const std::string& dataset, std::size_t bytes, const std::vector<std::uint64_t>& shape) const;
    void check_memory(const std::string& dataset, std::uint64_t needed) const;
    [[noreturn]] void fail(const std::string& object, const std::string& problem) const;
    void check_disk() const;

    std::unique_ptr<OutputFile> output_;  ///< of a file that is written
    std::int64_t id_ = -1;
    std::filesystem::path path_;
};

}  // namespace kasane::hdf5
