#include <kasane/lattice/distributed/local_file.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/comm/worker_memory.hpp>
#include <kasane/lattice/distributed/gluonic.hpp>
#include <kasane/lattice/file/formats.hpp>

#include <algorithm>

namespace kasane::lattice {
namespace {

/// Before each reduction all workers agree that none of them has an error, so that none waits for one that has.
class WorkerPart final : public PartReader {
   public:
    WorkerPart(comm::Worker& worker, Cpu host, const std::optional<GridShape>& shape) : worker_(worker), host_(host), shape_(shape) {}

    FileBox box(const Extents& lattice) override {
        agree();
        std::uint64_t least[4], most[4];
        for (std::size_t mu = 0; mu < 4; ++mu) least[mu] = most[mu] = static_cast<std::uint64_t>(lattice.n[mu]);
        worker_.all_reduce(View<std::uint64_t>(least, 4), comm::Reduce::min);
        worker_.all_reduce(View<std::uint64_t>(most, 4), comm::Reduce::max);
        KS_VALIDATE(std::equal(least, least + 4, most),
                    "the file has other extents for some ranks than for others: put it where all ranks see the same");
        grid_ = shape_ ? RankGrid::given(lattice, worker_.size(), *shape_) : RankGrid::chosen(lattice, worker_.size());
        return {lattice, grid_->local(), grid_->origin(worker_.index())};
    }
    void all_reduce(View<double> values, comm::Reduce how) override {
        agree();
        worker_.all_reduce(values, how);
    }
    void all_reduce(View<std::uint64_t> values, comm::Reduce how) override {
        agree();
        worker_.all_reduce(values, how);
    }
    double plaquette(const GaugeField& part) override {
        return of_halo(part, [](auto& halo, const auto& u) { return lattice::plaquette(halo, u).mean(); });
    }
    double link_trace(const GaugeField& part) override {
        return of_halo(part, [](auto& halo, const auto& u) { return lattice::link_trace(halo, u); });
    }

    /// Throws on every worker if one of them has an error. @param mine  this worker's; empty: none
    void agree(const std::string& mine = {}) {
        if (ended_) return;
        const auto reason = comm::first_reason(worker_, mine);
        if (reason.empty()) return;
        ended_ = true;
        throw InputError(reason);
    }
    const RankGrid& grid() const { return *grid_; }

   private:
    template <class Average>
    double of_halo(const GaugeField& part, const Average& average) {
        agree();
        LinkHalo<Cpu> halo(host_, worker_, *grid_);
        return average(halo, halo.extended(part));
    }

    comm::Worker& worker_;
    Cpu host_;
    const std::optional<GridShape>& shape_;
    std::optional<RankGrid> grid_;
    bool ended_ = false;  ///< all workers know that one of them has an error
};

/// Memory of the host for a field of each of the workers that share it. [bytes]
std::uint64_t memory_of_worker(comm::Worker& worker) {
    // The field, its copy with a halo, and that in the order of the space.
    return comm::available_memory(worker, Cpu{}) / 3;
}

}  // namespace

LocalGaugeFile read_local_gauge(comm::Worker& worker, Cpu host, const std::optional<GridShape>& shape, const std::filesystem::path& file) {
    WorkerPart part(worker, host, shape);
    try {
        ByteSource source(file);
        auto read = read_gauge(source, memory_of_worker(worker), part);
        part.agree();
        return {part.grid(), std::move(read)};
    } catch (const InputError& error) {
        try {
            part.agree(error.what());
        } catch (const InputError&) {  // all workers know it now, and this one has its own error
        }
        throw;
    }
}

}  // namespace kasane::lattice
