// The numbers of a vector that neighbouring workers read: packed, sent and received beside the work on own rows.
// Invariant: every start() has its finish(), in the same order on all workers.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/side_stream.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/general/number.hpp>

#include <vector>

namespace kasane::sparse {

/// @tparam T  double or ComplexNumber
template <Space S, class T = double>
class VectorExchange {
   public:
    static constexpr int channels = 8;  ///< that an exchange takes; more messages follow one another

    /// Collective over the workers. @param first_channel  number of the first of its channels
    VectorExchange(S on, comm::Worker& worker, const RowExchange& rows, int first_channel);

    /// Sends the numbers of x that other workers read, after the work submitted so far to the space.
    void start(const Buffer<T, S>& x);
    /// Returns the received numbers: work submitted to the space from now on may read them.
    View<const T> finish();

    index_t sent() const { return sent_.size(); }
    std::uint64_t bytes() const {
        return sizeof(T) * static_cast<std::uint64_t>(sent_.size() + received_.size()) + 4 * static_cast<std::uint64_t>(from_.size());
    }

   private:
    void start_message(std::size_t k);

    S on_;
    int worker_, workers_;
    RowExchange rows_;  ///< without the list, which is in from_
    Buffer<std::int32_t, S> from_;
    Buffer<T, S> sent_, received_;
    SideStream<S> stream_;  ///< the order of the messages
    std::vector<comm::Channel<S>> channels_;
};

}  // namespace kasane::sparse
