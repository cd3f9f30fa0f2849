// The particles of a simulation on their space. A is the type of their accelerations: Vec3<double> of direct summation, Vec3<float>
// of a tree. With a tree they are in curve order, and given[k] is the index of particle k in the order given by the user.
#pragma once

#include <kasane/core/device/growing_buffer.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/device/staged_copy.hpp>
#include <kasane/core/device/stream_cuda.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/step/host_particles.hpp>
#include <kasane/gravity/step/motion.hpp>
#include <kasane/gravity/step/permute.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace kasane::gravity {

/// Arrays of a System besides positions, velocities, accelerations and masses.
struct Keeps {
    bool order = false;       ///< `given`: the particles may be in another order than the one given
    bool levels = false;      ///< `level` of each particle
    bool sizes = false;       ///< `size`: |a| of each particle
    bool softenings = false;  ///< `softening` of each particle
};

/// Bytes of scratch per particle: permute() needs 8; at other times it holds a list of active particles (4) and flags (1).
inline constexpr index_t scratch_per_particle = 8;

template <Space S, class A>
struct System {
    S on;
    Keeps keeps;
    GrowingBuffer<Vec3<double>, S> position, velocity;
    GrowingBuffer<A, S> acceleration;
    GrowingBuffer<double, S> mass;
    GrowingBuffer<std::uint32_t, S> given;
    GrowingBuffer<std::uint8_t, S> level;
    GrowingBuffer<float, S> size;
    GrowingBuffer<double, S> softening;
    GrowingBuffer<std::byte, S> scratch;

    /// @param order  empty: as given; else element k of the arrays is particle order[k]
    System(S space, const HostParticles& particles, const Keeps& kept, const std::vector<std::uint32_t>& order)
        : on(space),
          keeps(kept),
          position(on, particles.size()),
          velocity(on, particles.size()),
          acceleration(on, particles.size()),
          mass(on, particles.size()),
          given(on, keeps.order ? particles.size() : 0),
          level(on, keeps.levels ? particles.size() : 0),
          size(on, keeps.sizes ? particles.size() : 0),
          softening(on, keeps.softenings ? particles.size() : 0),
          scratch(on, scratch_bytes(particles.size())) {
        if (keeps.order && order.empty())
            set_natural_order(on, given.view());
        else if (keeps.order)
            copy_from_host(on, given.view(), view(order));
        send(particles.position, position.view(), order);
        send(particles.velocity, velocity.view(), order);
        send(particles.mass, mass.view(), order);
        if (keeps.softenings) send(particles.softening, softening.view(), order);
    }

    index_t count() const { return position.size(); }
    Motion<A> motion() { return {position.view(), velocity.view(), acceleration.view(), level.view(), softening.view()}; }
    /// Scratch as a list of particles, and after it as flags.
    View<std::uint32_t> list() { return {reinterpret_cast<std::uint32_t*>(scratch.data()), scratch.size() > 0 ? count() : 0}; }
    View<std::uint8_t> flags() { return {reinterpret_cast<std::uint8_t*>(scratch.data()) + 4 * count(), scratch.size() > 0 ? count() : 0}; }
    /// Scratch as one float per particle.
    View<float> floats() { return {reinterpret_cast<float*>(scratch.data()), scratch.size() > 0 ? count() : 0}; }

    /// Scratch as one word of 64 bits per particle.
    View<std::uint64_t> words() { return {reinterpret_cast<std::uint64_t*>(scratch.data()), scratch.size() > 0 ? count() : 0}; }

    /// Changes the number of particles; the first ones and the scratch memory keep their contents.
    void resize(index_t n) {
        position.resize(n);
        velocity.resize(n);
        acceleration.resize(n);
        mass.resize(n);
        if (keeps.order) given.resize(n);
        if (keeps.levels) level.resize(n);
        if (keeps.sizes) size.resize(n);
        if (keeps.softenings) softening.resize(n);
        scratch.resize(scratch_bytes(n));
    }

    /// Permutes all arrays: the element at order[k] moves to k.
    void reorder(View<const std::uint32_t> order) {
        permute(on, order, position.view(), scratch.data());
        permute(on, order, velocity.view(), scratch.data());
        permute(on, order, acceleration.view(), scratch.data());
        permute(on, order, mass.view(), scratch.data());
        permute(on, order, given.view(), scratch.data());
        permute(on, order, level.view(), scratch.data());
        permute(on, order, size.view(), scratch.data());
        permute(on, order, softening.view(), scratch.data());
    }

    /// Copies an array of the host, in the order given, into an order: as of the constructor.
    template <class T>
    void send(View<const std::type_identity_t<T>> from, View<T> to, const std::vector<std::uint32_t>& order) {
        if (order.empty())
            set(to, [&](index_t k) { return from[k]; });
        else
            set(to, [&](index_t k) { return from[order[static_cast<std::size_t>(k)]]; });
    }
    /// Sets the elements of an array of this system. @param value  function of the index; several threads of the host call it
    template <class T, class Value>
    void set(View<T> to, const Value& value) {
        if constexpr (std::same_as<S, Cpu>) parallel_for(on, to.n, [&](index_t k) { to[k] = value(k); });
#if defined(KASANE_CUDA)
        else
            staged_to_device(on, to, value);
#endif
    }

    /// Copies an array of this system into the order given, within the memory of the space.
    void copy_ordered(View<const Vec3<double>> from, View<Vec3<double>> to) const {
        if (given.size() > 0) return scatter(on, given.view(), from, to);
        const auto bytes = static_cast<std::size_t>(from.n) * sizeof(Vec3<double>);
        if constexpr (std::same_as<S, Cpu>) std::memcpy(to.ptr, from.ptr, bytes);
#if defined(KASANE_CUDA)
        else
            cuda::copy_on_device(on, to.ptr, from.ptr, bytes);
#endif
    }

    /// Copies an array of this system to the host, into the order given.
    template <class T, class U, class Convert>
    void fetch(View<const T> from, std::vector<U>& to, Convert convert) const {
        const bool ordered = given.size() == 0;
        if constexpr (std::same_as<S, Cpu>) {
            parallel_for(on, count(), [&](index_t k) { to[ordered ? static_cast<std::size_t>(k) : given.data()[k]] = convert(from[k]); });
        }
#if defined(KASANE_CUDA)
        else {
            Buffer<T, S> chunk(on, ordered ? 0 : staged_chunk(count()));
            Buffer<std::uint32_t, S> place(on, given.size());
            if (!ordered) invert(on, given.view(), place.view());
            const auto source = [&](index_t first, index_t n) -> const T* {
                if (ordered) return from.ptr + first;
                gather(on, View<const std::uint32_t>(place.view().subview(first, n)), from, View<T>(chunk.data(), n));
                return chunk.data();
            };
            staged_to_host<T>(on, count(), source, [&](index_t i, const T& value) { to[static_cast<std::size_t>(i)] = convert(value); });
        }
#endif
    }
    template <class T>
    void fetch(View<const T> from, std::vector<T>& to) const {
        fetch(from, to, [](const T& value) { return value; });
    }

   private:
    index_t scratch_bytes(index_t n) const { return keeps.order || keeps.levels ? scratch_per_particle * ((n + 1) & ~index_t{1}) : 0; }
};

}  // namespace kasane::gravity
