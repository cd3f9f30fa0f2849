// Declarations that the files of the extension share: arrays without copies, one user at a time, the functions that bind a subject.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <kasane/core.hpp>

#include <atomic>
#include <complex>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
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

/// The alternative of an enumeration whose name() is `text`. @throws InputError for the argument `key` with what is allowed
template <class E>
E named(const std::string& text, std::initializer_list<E> all, const char* key) {
    std::string known;
    for (const E each : all) {
        if (name(each) == text) return each;
        known += (known.empty() ? "" : ", ") + std::string(name(each));
    }
    throw InputError("is '" + text + "': take one of " + known, {"", 0, 0, key});
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

void bind_gravity(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_lattice(nb::module_& m);

}  // namespace kasane::python
