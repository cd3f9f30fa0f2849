#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/self.hpp>

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace kasane::comm {

std::string Self::host() const {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

void Self::deliver(const Receipt& receipt, const std::byte* message, std::size_t bytes) {
    if (receipt.bytes != bytes)
        throw ComputationError("a message of " + std::to_string(bytes) + " bytes came where " + std::to_string(receipt.bytes) +
                               " were expected");
    if (bytes > 0) std::memcpy(receipt.data, message, bytes);
    open_[receipt.request] = true;
    delivered_.notify_all();
}

Communicator::Request Self::start_send(const void* data, std::size_t bytes, int, int tag) {
    const std::lock_guard lock(mutex_);
    auto& mail = mail_[tag];
    const auto* message = static_cast<const std::byte*>(data);
    if (mail.receipts.empty()) {
        mail.messages.emplace_back(message, message + bytes);
    } else {
        const auto receipt = mail.receipts.front();
        mail.receipts.pop_front();
        deliver(receipt, message, bytes);
    }
    return 0;
}

Communicator::Request Self::start_receive(void* data, std::size_t bytes, int, int tag) {
    const std::lock_guard lock(mutex_);
    auto& mail = mail_[tag];
    const Receipt receipt{++last_, data, bytes};
    open_[receipt.request] = false;
    if (mail.messages.empty()) {
        mail.receipts.push_back(receipt);
    } else {
        const auto message = std::move(mail.messages.front());
        mail.messages.pop_front();
        deliver(receipt, message.data(), message.size());
    }
    return receipt.request;
}

void Self::wait(Request request) {
    if (request == 0) return;
    std::unique_lock lock(mutex_);
    delivered_.wait(lock, [&] { return open_.at(request); });
    open_.erase(request);
}

void Self::send(const void* data, std::size_t bytes, int to, int tag) { wait(start_send(data, bytes, to, tag)); }
void Self::receive(void* data, std::size_t bytes, int from, int tag) { wait(start_receive(data, bytes, from, tag)); }

std::unique_ptr<Communicator> Self::first(int count) { return count > 0 ? std::make_unique<Self>() : nullptr; }

void Self::abort(int status) noexcept { std::_Exit(status); }

}  // namespace kasane::comm
