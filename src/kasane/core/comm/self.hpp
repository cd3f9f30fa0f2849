// One rank: this process alone, without MPI.
// Invariant: a message that the rank sends to itself is kept until it is received.
#pragma once

#include <kasane/core/comm/communicator.hpp>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace kasane::comm {

class Self final : public Communicator {
   public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 1; }
    std::string host() const override;
    std::string engine() const override { return "one rank"; }

    void barrier() override {}
    void broadcast(void*, std::size_t, int) override {}
    void all_reduce(View<double>, Reduce) override {}
    void all_reduce(View<std::uint64_t>, Reduce) override {}
    std::vector<std::string> all_gather(const std::string& text) override { return {text}; }

    void send(const void* data, std::size_t bytes, int to, int tag) override;
    void receive(void* data, std::size_t bytes, int from, int tag) override;
    Request start_send(const void* data, std::size_t bytes, int to, int tag) override;
    Request start_receive(void* data, std::size_t bytes, int from, int tag) override;
    void advance(Request) override {}
    void wait(Request request) override;

    std::unique_ptr<Communicator> first(int count) override;
    bool all_here(double) noexcept override { return true; }
    bool claim_last_word() noexcept override { return true; }
    [[noreturn]] void abort(int status) noexcept override;

   private:
    struct Receipt {
        Request request;
        void* data;
        std::size_t bytes;
    };
    /// Messages of one tag: unreceived messages or receipts without a message, never both.
    struct Mail {
        std::deque<std::vector<std::byte>> messages;
        std::deque<Receipt> receipts;
    };
    void deliver(const Receipt& receipt, const std::byte* message, std::size_t bytes);

    std::mutex mutex_;  // the workers of a rank send and receive from their own threads
    std::condition_variable delivered_;
    std::map<int, Mail> mail_;
    std::map<Request, bool> open_;  ///< requests of receipts: whether the message has come
    Request last_ = 0;              ///< 0: a message sent, which needs no wait
};

}  // namespace kasane::comm
