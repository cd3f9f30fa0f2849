// Three components, plain data: positions, velocities, accelerations. Layout: x, y, z contiguous.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane {

template <class T>
struct Vec3 {
    T x{}, y{}, z{};

    KS_FN Vec3& operator+=(const Vec3& b) {
        x += b.x, y += b.y, z += b.z;
        return *this;
    }
    KS_FN Vec3& operator-=(const Vec3& b) {
        x -= b.x, y -= b.y, z -= b.z;
        return *this;
    }
    KS_FN friend Vec3 operator+(Vec3 a, const Vec3& b) { return a += b; }
    KS_FN friend Vec3 operator-(Vec3 a, const Vec3& b) { return a -= b; }
    KS_FN friend Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
    KS_FN friend Vec3 operator*(T s, const Vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
    KS_FN friend Vec3 operator*(const Vec3& a, T s) { return s * a; }
    friend bool operator==(const Vec3&, const Vec3&) = default;
};

template <class T>
KS_FN T dot(const Vec3<T>& a, const Vec3<T>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
KS_FN Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace kasane
