// Structural mutations of HDF5 files: what takes the place of a data set in a file that is otherwise valid.
// Used by the tests of the readers and by test/fuzz/hdf5.fuzz.cpp.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kasane::test {

namespace mutation {

/// @throws std::logic_error where HDF5 refuses: the mutation itself is wrong then
template <class Result>
Result done(Result result) {
    if (result < 0) throw std::logic_error("HDF5 cannot make this mutation");
    return result;
}

class Handle {
   public:
    Handle(hid_t id, herr_t (*close)(hid_t)) : id_(done(id)), close_(close) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    operator hid_t() const { return id_; }

   private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

using Shape = std::vector<hsize_t>;

inline Handle simple_space(const Shape& shape, bool extendible = false) {
    const Shape most(shape.size(), H5S_UNLIMITED);
    return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), extendible ? most.data() : nullptr), H5Sclose};
}

inline Shape shape_of(hid_t file, const std::string& dataset) {
    const Handle opened(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(H5Dget_space(opened), H5Sclose);
    Shape shape(static_cast<std::size_t>(done(H5Sget_simple_extent_ndims(space))));
    done(H5Sget_simple_extent_dims(space, shape.data(), nullptr));
    return shape;
}

inline void remove(hid_t file, const std::string& dataset) { done(H5Ldelete(file, dataset.c_str(), H5P_DEFAULT)); }

/// Puts a data set of this type and space in the place of the old one. @param bytes  of its content; 0: nothing is written
inline void replace(hid_t file, const std::string& dataset, hid_t type, hid_t space, std::size_t bytes, hid_t how = H5P_DEFAULT) {
    remove(file, dataset);
    const Handle made(H5Dcreate2(file, dataset.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
    if (bytes == 0) return;
    const std::vector<std::uint8_t> zeros(bytes);
    done(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data()));
}

/// Of the old shape, and another type.
inline void retype(hid_t file, const std::string& dataset, hid_t type) {
    const auto shape = shape_of(file, dataset);
    std::size_t bytes = H5Tget_size(type);
    for (const auto extent : shape) bytes *= extent;
    replace(file, dataset, type, simple_space(shape), bytes);
}

inline void reshape(hid_t file, const std::string& dataset, const Shape& shape) {
    std::size_t bytes = sizeof(double);
    for (const auto extent : shape) bytes *= extent;
    replace(file, dataset, H5T_NATIVE_DOUBLE, simple_space(shape), bytes);
}

constexpr hsize_t huge = hsize_t{1} << 28;  // rows: 2 GiB of doubles, and 6 GiB of vectors

/// Rows beyond memory's comfort, of the old width.
inline Shape huge_shape(hid_t file, const std::string& dataset, hsize_t rows = huge) {
    auto shape = shape_of(file, dataset);
    shape.front() = rows;
    return shape;
}

inline Handle chunked(const Shape& chunk) {
    Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    done(H5Pset_chunk(how, static_cast<int>(chunk.size()), chunk.data()));
    return how;
}

}  // namespace mutation

struct Hdf5Mutation {
    const char* name;
    void (*apply)(hid_t file, const std::string& dataset);
};

/// Each leaves a file that HDF5 opens, and that holds no usable data set of that name.
inline const std::vector<Hdf5Mutation>& hdf5_mutations() {
    using namespace mutation;
    using File = hid_t;
    using Name = const std::string&;
    static const std::vector<Hdf5Mutation> all{
        {"missing", [](File file, Name name) { remove(file, name); }},
        {"group",
         [](File file, Name name) {
             remove(file, name);
             const Handle made(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
         }},
        {"attribute",
         [](File file, Name name) {
             remove(file, name);
             const auto slash = name.rfind('/');
             const auto above = slash == 0 ? std::string("/") : name.substr(0, slash);
             const auto space = simple_space({3});
             const Handle made(H5Acreate_by_name(file, above.c_str(), name.substr(slash + 1).c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                                 H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
             done(H5Awrite(made, H5T_NATIVE_DOUBLE, std::vector<double>(3, 1.).data()));
         }},
        {"named type",
         [](File file, Name name) {
             remove(file, name);
             const Handle type(H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose);
             done(H5Tcommit2(file, name.c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
         }},
        {"soft link to nothing",
         [](File file, Name name) {
             remove(file, name);
             done(H5Lcreate_soft("/nowhere/at/all", file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
         }},
        {"soft link to itself",
         [](File file, Name name) {
             remove(file, name);
             done(H5Lcreate_soft(name.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
         }},
        {"soft link to the root",
         [](File file, Name name) {
             remove(file, name);
             done(H5Lcreate_soft("/", file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
         }},
        {"external link to no file",
         [](File file, Name name) {
             remove(file, name);
             done(H5Lcreate_external("nowhere.hdf5", name.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
         }},
        // `valid.hdf5` is the file before its mutation, beside this one.
        {"external link to a valid file",
         [](File file, Name name) {
             remove(file, name);
             done(H5Lcreate_external("valid.hdf5", name.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
         }},
        {"soft link to an external link",
         [](File file, Name name) {
             remove(file, name);
             done(H5Lcreate_external("valid.hdf5", name.c_str(), file, (name + ".elsewhere").c_str(), H5P_DEFAULT, H5P_DEFAULT));
             done(H5Lcreate_soft((name + ".elsewhere").c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
         }},
        {"external storage",
         [](File file, Name name) {
             const auto shape = shape_of(file, name);
             Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
             done(H5Pset_external(how, "/dev/zero", 0, H5F_UNLIMITED));
             replace(file, name, H5T_NATIVE_DOUBLE, simple_space(shape), 0, how);
         }},
        {"virtual",
         [](File file, Name name) {
             const auto shape = shape_of(file, name);
             const auto space = simple_space(shape);
             Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
             done(H5Pset_virtual(how, space, "valid.hdf5", name.c_str(), space));
             replace(file, name, H5T_NATIVE_DOUBLE, space, 0, how);
         }},
        {"null space", [](File file, Name name) { replace(file, name, H5T_NATIVE_DOUBLE, Handle(H5Screate(H5S_NULL), H5Sclose), 0); }},
        {"scalar", [](File file, Name name) { replace(file, name, H5T_NATIVE_DOUBLE, Handle(H5Screate(H5S_SCALAR), H5Sclose), 8); }},
        {"no rows", [](File file, Name name) { replace(file, name, H5T_NATIVE_DOUBLE, simple_space(huge_shape(file, name, 0)), 0); }},
        {"one row too many", [](File file, Name name) { reshape(file, name, huge_shape(file, name, shape_of(file, name).front() + 1)); }},
        {"one dimension more",
         [](File file, Name name) {
             auto shape = shape_of(file, name);
             shape.insert(shape.begin(), 2);
             reshape(file, name, shape);
         }},
        {"32 dimensions", [](File file, Name name) { reshape(file, name, Shape(H5S_MAX_RANK, 1)); }},
        {"rows of no numbers", [](File file, Name name) { replace(file, name, H5T_NATIVE_DOUBLE, simple_space({huge, 0}), 0); }},
        {"text",
         [](File file, Name name) {
             const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
             done(H5Tset_size(type, 8));
             retype(file, name, type);
         }},
        {"text of any length",
         [](File file, Name name) {
             const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
             done(H5Tset_size(type, H5T_VARIABLE));
             const auto shape = shape_of(file, name);
             replace(file, name, type, simple_space(shape), 0);
         }},
        {"lists of numbers",
         [](File file, Name name) {
             const Handle type(H5Tvlen_create(H5T_NATIVE_DOUBLE), H5Tclose);
             const auto shape = shape_of(file, name);
             replace(file, name, type, simple_space(shape), 0);
         }},
        {"compound",
         [](File file, Name name) {
             const Handle type(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
             done(H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE));
             done(H5Tinsert(type, "i", 8, H5T_NATIVE_DOUBLE));
             retype(file, name, type);
         }},
        {"enumeration",
         [](File file, Name name) {
             const Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
             const std::int8_t zero = 0;
             done(H5Tenum_insert(type, "zero", &zero));
             retype(file, name, type);
         }},
        {"bits", [](File file, Name name) { retype(file, name, H5T_STD_B64LE); }},
        {"opaque",
         [](File file, Name name) {
             const Handle type(H5Tcreate(H5T_OPAQUE, 8), H5Tclose);
             retype(file, name, type);
         }},
        {"references", [](File file, Name name) { retype(file, name, H5T_STD_REF_OBJ); }},
        {"arrays",
         [](File file, Name name) {
             const hsize_t three = 3;
             const Handle type(H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three), H5Tclose);
             retype(file, name, type);
         }},
        {"never written",
         [](File file, Name name) {
             const auto shape = shape_of(file, name);
             replace(file, name, H5T_NATIVE_DOUBLE, simple_space(shape), 0);
         }},
        {"huge, never written",
         [](File file, Name name) { replace(file, name, H5T_NATIVE_DOUBLE, simple_space(huge_shape(file, name)), 0); }},
        {"huge, chunks never written",
         [](File file, Name name) {
             const auto shape = huge_shape(file, name);
             auto chunk = shape;
             chunk.front() = 1024;
             replace(file, name, H5T_NATIVE_DOUBLE, simple_space(shape), 0, chunked(chunk));
         }},
        {"huge, one chunk written",
         [](File file, Name name) {
             const auto shape = huge_shape(file, name);
             auto chunk = shape;
             chunk.front() = 1024;
             replace(file, name, H5T_NATIVE_DOUBLE, simple_space(shape), 0, chunked(chunk));
             const Handle opened(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
             const Handle in_file(H5Dget_space(opened), H5Sclose);
             const Shape start(shape.size(), 0), one(shape.size(), 1);
             done(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, one.data(), nullptr));
             const double value = 1;
             done(H5Dwrite(opened, H5T_NATIVE_DOUBLE, simple_space(one), in_file, H5P_DEFAULT, &value));
         }},
        {"huge chunks",
         [](File file, Name name) {
             const auto shape = shape_of(file, name);
             auto chunk = shape;
             for (auto& extent : chunk) extent = extent == chunk.front() ? huge : extent;
             chunk.front() = huge / (chunk.size() > 1 ? 8 : 1);
             for (std::size_t d = 1; d < chunk.size(); ++d) chunk[d] = 1;
             replace(file, name, H5T_NATIVE_DOUBLE, simple_space(shape, true), 0, chunked(chunk));
         }},
        {"more rows than 64 bits count bytes of",
         [](File file, Name name) {
             replace(file, name, H5T_NATIVE_DOUBLE, simple_space(huge_shape(file, name, hsize_t{1} << 60), true), 0,
                     chunked(Shape(shape_of(file, name).size(), 1)));
         }},
    };
    return all;
}

/// Copies `valid.hdf5` of a directory to `mutated.hdf5` and mutates it there. @returns the path of the copy
inline std::filesystem::path mutated(const std::filesystem::path& directory, const std::string& dataset, const Hdf5Mutation& mutation) {
    const auto path = directory / "mutated.hdf5";
    std::filesystem::copy_file(directory / "valid.hdf5", path, std::filesystem::copy_options::overwrite_existing);
    const mutation::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    mutation.apply(file, dataset);
    return path;
}

}  // namespace kasane::test
