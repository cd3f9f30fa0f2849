// Declarations that the files of the extension share: arrays of the host and of a device without copies, one user at a time, the functions
// that bind a subject.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <kasane/core.hpp>

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasane::python {

namespace nb = nanobind;

/// A contiguous array of the caller on the host; functions that take one never copy or convert it.
template <class T, class... Shape>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape...>;
/// The same for writing.
template <class T, class... Shape>
using InOut = nb::ndarray<T, nb::c_contig, nb::device::cpu, Shape...>;
/// A NumPy array; of const T: read-only.
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

/// View of all elements of an array.
template <class T, class... Shape>
View<const T> view_of(const In<T, Shape...>& array) {
    return {array.data(), static_cast<index_t>(array.size())};
}
template <class T, class... Shape>
View<T> view_of(const InOut<T, Shape...>& array)
    requires(!std::is_const_v<T>)
{
    return {array.data(), static_cast<index_t>(array.size())};
}

/// A NumPy array that owns the elements of the vector; nothing is copied.
/// @param shape  its product, with the components of T counted, is the number of Scalars in the vector
template <class Scalar, class T>
Array<Scalar> owned(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    static_assert(sizeof(T) % sizeof(Scalar) == 0);
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    auto* data = reinterpret_cast<Scalar*>(kept->data());
    nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    kept.release();
    return Array<Scalar>(data, shape, owner);
}
template <class T>
Array<T> owned(std::vector<T>&& values) {
    const auto n = values.size();
    return owned<T, T>(std::move(values), {n});
}

/// An array of another library in the memory of a CUDA device: address, shape and type, and what keeps it alive.
class DeviceArray {
   public:
    /// From DLPack.
    explicit DeviceArray(const nb::ndarray<nb::ro, nb::device::cuda>& array);
    /// Zeros in memory of their own. @param type  float64 or complex128   @throws InputError: no such device
    static DeviceArray zeros(std::vector<index_t> shape, const std::string& type, const std::string& device);
    /// From the numbers of a `__cuda_array_interface__`. @param type  as in typestr: "<f8"   @throws InputError: memory of no CUDA device
    DeviceArray(std::uintptr_t address, std::vector<index_t> shape, const std::optional<std::vector<index_t>>& byte_strides,
                const std::string& type, nb::object owner);

    const std::vector<index_t>& shape() const { return shape_; }
    const std::string& type() const { return type_; }  ///< of NumPy: "float64"
    bool contiguous() const { return contiguous_; }
    int device() const { return device_; }
    std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(address_); }
    index_t size() const;
    /// The elements of a contiguous array as bytes on the host.
    Array<std::uint8_t> bytes() const;
    /// Overwrites all elements by those of an array of the same type, size and device.
    void assign(const DeviceArray& from);
    /// A capsule of DLPack that keeps the memory of `self`.
    static nb::object dlpack(nb::handle_t<DeviceArray> self);

    /// View of all elements. @throws LogicError: another type, or not contiguous
    template <class T>
    View<const T> view() const {
        require(type_of<T>());
        return {static_cast<const T*>(address_), size()};
    }
    /// The same for writing; the caller has checked that the array may be written.
    template <class T>
    View<T> writable() const {
        require(type_of<T>());
        return {static_cast<T*>(const_cast<void*>(address_)), size()};
    }
    /// @throws InputError for the argument `key` unless the array is in the memory of that space
    void require_on(const AnySpace& space, const char* key) const;

   private:
    DeviceArray() = default;
    int bytes_per_element() const;

    template <class T>
    static const char* type_of() {
        if constexpr (std::is_same_v<T, std::complex<double>>) return "complex128";
        if constexpr (std::is_same_v<T, double>) return "float64";
        if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
        if constexpr (std::is_same_v<T, std::int64_t>) return "int64";
    }
    void require(const char* type) const;

    const void* address_ = nullptr;
    std::vector<index_t> shape_;
    std::string type_;
    bool contiguous_ = true;
    int device_ = 0;
    nb::object owner_;
    nb::ndarray<nb::ro, nb::device::cuda> array_;
#if defined(KASANE_CUDA)
    std::shared_ptr<Buffer<std::byte, Cuda>> own_;
#endif
};

/// The alternative of an enumeration whose name() is `text`. @param known  a word that the caller takes, too, for the message
/// @throws InputError for the argument `key` with what is allowed
template <class E>
E named(const std::string& text, std::initializer_list<E> all, const char* key, std::string known = "") {
    for (const E each : all) {
        if (name(each) == text) return each;
        known += (known.empty() ? "" : ", ") + std::string(name(each));
    }
    throw InputError("is '" + text + "': take one of " + known, {"", 0, 0, key});
}

/// The value of the argument `key`. @tparam T  bool, int, double, std::string or a vector of numbers   @throws InputError: another type
template <class T>
T value_of(const char* key, nb::handle given) {
    constexpr const char* expected = std::is_same_v<T, bool>          ? "True or False"
                                     : std::is_same_v<T, int>         ? "a whole number of at most 32 bits"
                                     : std::is_same_v<T, double>      ? "a number"
                                     : std::is_same_v<T, std::string> ? "text"
                                                                      : "a sequence of numbers";
    T value;
    if (!nb::try_cast(given, value))
        throw InputError(std::string("is ") + nb::repr(given).c_str() + ": " + expected + " is expected", {"", 0, 0, key});
    return value;
}

/// An object with state computes for one thread at a time: a second thread gets an error instead of waiting, and instead of a data race.
class OneUser {
   public:
    explicit OneUser(std::atomic<bool>& busy, const char* what) : busy_(&busy) {
        if (busy.exchange(true))
            throw LogicError(std::string(what) + " is in use by another thread: use one for each thread, or take turns");
    }
    ~OneUser() { busy_->store(false); }
    OneUser(const OneUser&) = delete;
    OneUser& operator=(const OneUser&) = delete;

   private:
    std::atomic<bool>* busy_;
};

/// Runs f without the GIL, as the only user of an object.
template <class F>
auto alone(std::atomic<bool>& busy, const char* what, F f) {
    const OneUser user(busy, what);
    const nb::gil_scoped_release released;
    return f();
}

/// Asks Python, at most twenty times a second, whether a signal arrived, so that Ctrl-C ends a solve at an iteration. Only the thread that
/// created it asks, without the GIL held.
class Interrupts {
   public:
    /// True as soon as Python has an exception to raise; the solve ends then, and raise() throws.
    bool arrived();
    /// Throws the exception that arrived() found, with the GIL held.
    void raise() const;

   private:
    Stopwatch since_;
    std::exception_ptr found_;
};

void bind_device_array(nb::module_& m);
void bind_gravity(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_lattice(nb::module_& m);

}  // namespace kasane::python
