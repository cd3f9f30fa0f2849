// Three components, plain data: positions, velocities, accelerations. Layout: x, y, z contiguous.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane {

/// A vector of three components.
template <class T>
struct Vec3 {
    T x{};  ///< first component
    T y{};  ///< second component
    T z{};  ///< third component

    /// Adds component by component.
    KS_FN Vec3& operator+=(const Vec3& b) {
        x += b.x, y += b.y, z += b.z;
        return *this;
    }
    /// Subtracts component by component.
    KS_FN Vec3& operator-=(const Vec3& b) {
        x -= b.x, y -= b.y, z -= b.z;
        return *this;
    }
    /// Sum.
    KS_FN friend Vec3 operator+(Vec3 a, const Vec3& b) { return a += b; }
    /// Difference.
    KS_FN friend Vec3 operator-(Vec3 a, const Vec3& b) { return a -= b; }
    /// The opposite vector.
    KS_FN friend Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
    /// Product with a number.
    KS_FN friend Vec3 operator*(T s, const Vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
    /// Product with a number.
    KS_FN friend Vec3 operator*(const Vec3& a, T s) { return s * a; }
    /// Whether all components are equal.
    friend bool operator==(const Vec3&, const Vec3&) = default;
};

/// Scalar product.
template <class T>
KS_FN T dot(const Vec3<T>& a, const Vec3<T>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Vector product.
template <class T>
KS_FN Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace kasane
