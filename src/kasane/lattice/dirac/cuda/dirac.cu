// Dirac<Cuda, P>: links and clover term packed as the kernels read them, and the launches.
#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/hop.hpp>
#include <kasane/lattice/dirac/cuda/hop_columns.hpp>
#include <kasane/lattice/dirac/cuda/hop_halo.hpp>
#include <kasane/lattice/dirac/cuda/hop_rows.hpp>
#include <kasane/lattice/dirac/validate.hpp>

#include <algorithm>

namespace kasane::lattice {

using namespace device;

namespace {

/// Calls body with the storage as types: body.operator()<R, half_links>().
template <Precision P, class Body>
auto with_storage(const LinkStorage& storage, Body body) {
    const auto reals = [&]<bool half>() {
        switch (storage.reals) {
            case LinkReals::all: return body.template operator()<LinkReals::all, half>();
            case LinkReals::two_rows: return body.template operator()<LinkReals::two_rows, half>();
            default: return body.template operator()<LinkReals::parameters, half>();
        }
    };
    if constexpr (P == Precision::half) {
        return reals.template operator()<true>();
    } else if constexpr (P == Precision::single) {
        return storage.half ? reals.template operator()<true>() : reals.template operator()<false>();
    } else {
        return reals.template operator()<false>();
    }
}

template <Precision P>
struct MultiplyByClover {
    FieldView<P> in, out;
    const Chunk* clover;
    bool inverse;
    KS_FN void operator()(index_t i) const {
        const auto place = static_cast<std::uint32_t>(i);
        auto v = load_spinor<P>(in, place);
        if (inverse)
            divide_by_clover<P>(clover, place, v);
        else
            v = times_clover<P>(clover, place, v);
        store_spinor<P>(out, place, v);
    }
};

}  // namespace

template <Space S, Precision P>
struct Dirac<S, P>::Parts {
    std::shared_ptr<const Lattice<S>> lattice;
    Boundary boundary;
    LinkStorage storage;
    Buffer<Chunk, S> links[2], clover[2];  ///< of each parity
    index_t link_place_bytes = 0;

    /// A hop without its fields.
    HopTask<P> task(Parity to, bool adjoint, double c) const {
        HopTask<P> made;
        made.tiles = lattice->tiles();
        made.sites = lattice->sites();
        made.to = to;
        made.links = reinterpret_cast<const char*>(links[static_cast<int>(to)].data());
        made.clover = clover[static_cast<int>(to)].data();
        made.c = static_cast<Real<P>>(c);
        made.sign = static_cast<Real<P>>(adjoint ? -1 : 1);
        made.boundary_sign = static_cast<Real<P>>(boundary == Boundary::antiperiodic ? -1 : 1);
        made.temporal_gauge = storage.temporal_gauge;
        return made;
    }
};

template <Space S, Precision P>
Dirac<S, P>::Dirac(std::shared_ptr<const Lattice<S>> lattice, const Links<S>& links, const CloverTerm<S>* A, Boundary boundary,
                   LinkStorage storage)
    : Dirac(std::move(lattice), links, Site{}, A, boundary, storage) {}

template <Space S, Precision P>
Dirac<S, P>::Dirac(std::shared_ptr<const Lattice<S>> lattice, const Links<S>& links, const Site& first, const CloverTerm<S>* A,
                   Boundary boundary, LinkStorage storage)
    requires(!std::same_as<S, Cpu>)
    : parts_(std::make_unique<Parts>()) {
    require_operator<S, P>(*lattice, links, A, storage, first);
    auto& parts = *parts_;
    parts.lattice = std::move(lattice);
    parts.boundary = boundary;
    parts.storage = storage;
    const auto& on_lattice = *parts.lattice;
    const S on = on_lattice.space();
    for (const Parity parity : {Parity::even, Parity::odd}) {
        auto& packed = parts.links[static_cast<int>(parity)];
        with_storage<P>(storage, [&]<LinkReals R, bool half>() {
            parts.link_place_bytes = LinkFormat<Real<P>, R, half>::place_bytes;
            packed = Buffer<Chunk, S>(on, index_t{on_lattice.blocks()} * row * parts.link_place_bytes / index_t{sizeof(Chunk)});
        });
        if (A)
            parts.clover[static_cast<int>(parity)] =
                Buffer<Chunk, S>(on, index_t{on_lattice.blocks()} * row * clover_bytes<P> / index_t{sizeof(Chunk)});
    }
    pack(links, first, A);
}

template <Space S, Precision P>
Dirac<S, P>::~Dirac() = default;
template <Space S, Precision P>
Dirac<S, P>::Dirac(Dirac&&) noexcept = default;

template <Space S, Precision P>
void Dirac<S, P>::pack(const Links<S>& links, const CloverTerm<S>* A) {
    pack(links, Site{}, A);
}

template <Space S, Precision P>
void Dirac<S, P>::pack(const Links<S>& links, const Site& first, const CloverTerm<S>* A)
    requires(!std::same_as<S, Cpu>)
{
    auto& parts = *parts_;
    const auto& on_lattice = *parts.lattice;
    require_operator<S, P>(on_lattice, links, A, parts.storage, first);
    require_same_form(parts.clover[0].size() > 0, A != nullptr);
    const S on = on_lattice.space();
    for (const Parity parity : {Parity::even, Parity::odd}) {
        auto* const packed = reinterpret_cast<char*>(parts.links[static_cast<int>(parity)].data());
        with_storage<P>(parts.storage, [&]<LinkReals R, bool half>() {
            parallel_for(on, on_lattice.sites(), PackLinks<Real<P>, R, half>{on_lattice.tiles(), parity, links.view(), first, packed});
        });
        if (A)
            parallel_for(on, on_lattice.sites(),
                         PackClover<P>{on_lattice.tiles(), parity, A->view(), parts.clover[static_cast<int>(parity)].data()});
    }
    // The caller may destroy the links and A; and the hop of few sites reads what is packed before the kernels in front of it have ended.
    cuda::synchronize(on);
}

template <Space S, Precision P>
void Dirac<S, P>::hop(HopForm form, Parity to, bool adjoint, double c, const Field<S, P>& in, const Field<S, P>* x,
                      Field<S, P>& out) const {
    const auto& parts = *parts_;
    form = valid_form(*parts.lattice, form, parts.clover[static_cast<int>(to)].size() > 0, in, x, out);
    auto task = parts.task(to, adjoint, c);
    task.in = in.view();
    if (x) task.x = x->view();
    task.out = out.view();
    with_storage<P>(parts.storage, [&]<LinkReals R, bool half>() {
        if constexpr (has_hop_rows<P, R, half>) {
            if (task.sites <= most_sites_of_hop_rows) return launch_hop_rows<P, R>(parts.lattice->space(), form, task);
        }
        launch_hop<P, R, half>(parts.lattice->space(), form, task);
    });
}

template <Space S, Precision P>
void Dirac<S, P>::hop(HopForm form, Parity to, bool adjoint, double c, const Field<S, P>& in, const Field<S, P>* x, Field<S, P>& out,
                      const HopHalo<P>& halo) const
    requires(!std::same_as<S, Cpu>)
{
    const auto& parts = *parts_;
    form = valid_form(*parts.lattice, form, parts.clover[static_cast<int>(to)].size() > 0, in, x, out);
    KS_EXPECT(parts.storage.reals != LinkReals::parameters);
    auto task = parts.task(to, adjoint, c);
    task.in = in.view();
    if (x) task.x = x->view();
    task.out = out.view();
    with_storage<P>(parts.storage, [&]<LinkReals R, bool half>() {
        if constexpr (R != LinkReals::parameters) launch_hop_halo<P, R, half>(parts.lattice->space(), form, task, halo);
    });
}

template <Space S, Precision P>
void Dirac<S, P>::hop(HopForm form, Parity to, bool adjoint, double c, std::span<const Field<S, P>* const> in,
                      std::span<const Field<S, P>* const> x, std::span<Field<S, P>* const> out) const {
    require_columns(in.size(), x.size(), out.size());
    const auto& parts = *parts_;
    const auto one_by_one = [&] {
        for (std::size_t i = 0; i < in.size(); ++i) hop(form, to, adjoint, c, *in[i], x.empty() ? nullptr : x[i], *out[i]);
    };
    if (in.size() < 2) return one_by_one();
    with_storage<P>(parts.storage, [&]<LinkReals R, bool half>() {
        if constexpr (!has_hop_columns<P, R, half>) {
            one_by_one();
        } else {
            HopColumnsTask<P> task;
            task.hop = parts.task(to, adjoint, c);
            for (std::size_t first = 0; first < in.size(); first += most_columns) {
                HopForm valid = form;
                task.columns = static_cast<int>(std::min(in.size() - first, std::size_t{most_columns}));
                for (int i = 0; i < task.columns; ++i) {
                    const std::size_t k = first + static_cast<std::size_t>(i);
                    const auto* const own = x.empty() ? nullptr : x[k];
                    valid = valid_form(*parts.lattice, form, parts.clover[static_cast<int>(to)].size() > 0, *in[k], own, *out[k]);
                    task.column[i] = {in[k]->view(), own ? own->view() : FieldView<P>{}, out[k]->view()};
                }
                launch_hop_columns<P, R>(parts.lattice->space(), valid, task);
            }
        }
    });
}

template <Space S, Precision P>
void Dirac<S, P>::whole(bool adjoint, double c, const Field<S, P>& even, const Field<S, P>& odd, Field<S, P>& out_even,
                        Field<S, P>& out_odd) const {
    hop(HopForm::clover, Parity::even, adjoint, c, odd, &even, out_even);
    hop(HopForm::clover, Parity::odd, adjoint, c, even, &odd, out_odd);
}

template <Space S, Precision P>
void Dirac<S, P>::clover(Parity parity, bool inverse, const Field<S, P>& in, Field<S, P>& out) const {
    require_same_lattice(in, out);
    const auto& on_lattice = *parts_->lattice;
    const auto& term = parts_->clover[static_cast<int>(parity)];
    if (term.size() == 0) {
        if (&in != &out) convert(in, out);
        return;
    }
    parallel_for(on_lattice.space(), on_lattice.sites(), MultiplyByClover<P>{in.view(), out.view(), term.data(), inverse});
}

template <Space S, Precision P>
std::uint64_t Dirac<S, P>::bytes() const {
    std::uint64_t chunks = 0;
    for (int p = 0; p < 2; ++p) chunks += static_cast<std::uint64_t>(parts_->links[p].size() + parts_->clover[p].size());
    return chunks * sizeof(Chunk);
}

template <Space S, Precision P>
double Dirac<S, P>::bytes_per_site(HopForm form, bool with_x, int columns) const {
    const double spinor = spinor_chunks<P> * 16 + (P == Precision::half ? 4 : 0);
    const auto& n = parts_->lattice->extents();
    // In temporal gauge two of eight links are read on one time slice only.
    const double links = static_cast<double>(parts_->link_place_bytes) * (parts_->storage.temporal_gauge ? 0.75 + 0.25 / n[3] : 1.0);
    const bool reads_clover = form != HopForm::plain && parts_->clover[0].size() > 0;
    return (links + (reads_clover ? clover_bytes<P> : 0)) / columns + (with_x ? 3 : 2) * spinor;
}

template class Dirac<Cuda, Precision::half>;
template class Dirac<Cuda, Precision::single>;
template class Dirac<Cuda, Precision::double_>;

}  // namespace kasane::lattice
