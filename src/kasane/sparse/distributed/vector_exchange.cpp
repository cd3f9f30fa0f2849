#include <kasane/sparse/distributed/vector_exchange.hpp>

#include <kasane/sparse/distributed/part_kernels.hpp>

#include <algorithm>

namespace kasane::sparse {

template <Space S, class T>
VectorExchange<S, T>::VectorExchange(S on, comm::Worker& worker, const RowExchange& rows, int first_channel)
    : on_(on),
      worker_(worker.index()),
      workers_(worker.size()),
      rows_{rows.distance, rows.send_begin, rows.receive_begin, {}},
      from_(to_space(on, rows.sent)),
      sent_(on, from_.size()),
      received_(on, rows.received()),
      stream_(on, Urgency::high) {
    const int needed = std::min(channels, static_cast<int>(rows_.distance.size()));
    for (int k = 0; k < needed; ++k) channels_.emplace_back(on, worker, first_channel + k);
}

template <Space S, class T>
void VectorExchange<S, T>::start_message(std::size_t k) {
    const auto bytes = [](auto* data, std::int64_t first, std::int64_t last) {
        using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(data)>>, const std::byte, std::byte>;
        return View<Byte>{reinterpret_cast<Byte*>(data + first), (last - first) * static_cast<index_t>(sizeof(T))};
    };
    const int to = (worker_ + rows_.distance[k]) % workers_, from = (worker_ - rows_.distance[k] + workers_) % workers_;
    channels_[k % channels_.size()].start(stream_.space(),
                                          bytes(static_cast<const T*>(sent_.data()), rows_.send_begin[k], rows_.send_begin[k + 1]), to,
                                          bytes(received_.data(), rows_.receive_begin[k], rows_.receive_begin[k + 1]), from);
}

template <Space S, class T>
void VectorExchange<S, T>::start(const Buffer<T, S>& x) {
    if (channels_.empty()) return;
    gather(on_, x.view(), View<const T>{}, from_.view(), sent_.view());
    stream_.follow(on_);
    for (std::size_t k = 0; k < channels_.size(); ++k) start_message(k);
}

template <Space S, class T>
View<const T> VectorExchange<S, T>::finish() {
    if (channels_.empty()) return {};
    for (std::size_t k = 0; k < rows_.distance.size(); ++k) {
        channels_[k % channels_.size()].finish(stream_.space());
        if (const auto next = k + channels_.size(); next < rows_.distance.size()) start_message(next);
    }
    stream_.lead(on_);
    return received_.view();
}

template class VectorExchange<Cpu, double>;
template class VectorExchange<Cpu, ComplexNumber>;
#if defined(KASANE_CUDA)
template class VectorExchange<Cuda, double>;
template class VectorExchange<Cuda, ComplexNumber>;
#endif

}  // namespace kasane::sparse
