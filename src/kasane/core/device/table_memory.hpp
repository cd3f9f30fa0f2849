// Copies of tables of the host in the memory of a space, for kernels that read them.
#pragma once

#include <kasane/core/device/buffer.hpp>

#include <vector>

namespace kasane {

/// Copies each table once, also when it is requested again. On the CPU none is copied: the tables must outlive their views.
template <Space S>
class TableMemory {
   public:
    explicit TableMemory(S on) : on_(on) {}

    /// The table on the space, as long as this object exists.
    template <class T>
    View<const T> operator()(const std::vector<T>& table) {
        if constexpr (std::same_as<S, Cpu>) {
            return view(table);
        } else {
            const auto bytes = static_cast<index_t>(table.size() * sizeof(T));
            const auto* const first = reinterpret_cast<const std::byte*>(table.data());
            const auto on_space = [&](const Copy& copy) {
                return View<const T>(reinterpret_cast<const T*>(copy.bytes.data()), static_cast<index_t>(table.size()));
            };
            for (const auto& copy : copies_)
                if (copy.of == first && copy.bytes.size() == bytes) return on_space(copy);
            auto& copy = copies_.emplace_back(first, Buffer<std::byte, S>(on_, bytes));
            copy_from_host(on_, copy.bytes.view(), View<const std::byte>(first, bytes));
            return on_space(copy);
        }
    }

   private:
    struct Copy {
        const std::byte* of;
        Buffer<std::byte, S> bytes;
        Copy(const std::byte* table, Buffer<std::byte, S> memory) : of(table), bytes(std::move(memory)) {}
    };

    S on_;
    std::vector<Copy> copies_;
};

}  // namespace kasane
