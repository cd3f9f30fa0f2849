#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/multigrid/run_sums.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

namespace kasane::sparse {
namespace {

struct ProductAndSquare {
    const double *x, *y;
    KS_FN VectorSums operator()(index_t i) const { return {x[i] * y[i], x[i] * x[i]}; }
};

struct AddAndSquare {
    double a;
    const double* x;
    double* y;
    KS_FN double operator()(index_t i) const {
        const double now = y[i] + a * x[i];
        y[i] = now;
        return now * now;
    }
};

struct Direction {
    const double* r;
    double beta, omega;
    const double* v;
    double* p;
    KS_FN void operator()(index_t i) const { p[i] = r[i] + beta * (p[i] - omega * v[i]); }
};

struct Finish {
    double alpha, omega;
    const double *p, *t, *shadow;
    double *x, *r;
    KS_FN VectorSums operator()(index_t i) const {
        const double before = r[i];
        x[i] += alpha * p[i] + omega * before;
        const double now = before - omega * t[i];
        r[i] = now;
        return {shadow[i] * now, now * now};
    }
};

struct Product {
    const double *x, *y;
    KS_FN double operator()(index_t i) const { return x[i] * y[i]; }
};

struct Entry {
    const double* x;
    KS_FN double operator()(index_t i) const { return x[i]; }
};

struct StepBoth {
    double a;
    const double *p, *q;
    double *x, *r;
    KS_FN double operator()(index_t i) const {
        x[i] += a * p[i];
        const double now = r[i] - a * q[i];
        r[i] = now;
        return now * now;
    }
};

struct Combine {
    double a, b;
    const double* x;
    double* y;
    KS_FN void operator()(index_t i) const { y[i] = b == 0 ? (a == 0 ? 0 : a * x[i]) : a == 0 ? b * y[i] : a * x[i] + b * y[i]; }
};

struct Lower {
    double by;
    double* x;
    KS_FN void operator()(index_t i) const { x[i] -= by; }
};

}  // namespace

template <Space S>
VectorAlgebra<S>::VectorAlgebra(S on) : on_(on), partial_(on, sum_runs_count) {}

template <Space S>
template <class Term>
VectorSums VectorAlgebra<S>::sum(index_t n, const Term& term) {
    return sum_in_runs(on_, n, term, partial_);
}

template <Space S>
double VectorAlgebra<S>::dot(const Vector& x, const Vector& y) {
    return sum(x.size(), Product{x.data(), y.data()}).first;
}

template <Space S>
std::vector<double> VectorAlgebra<S>::dots(const std::vector<std::pair<const Vector*, const Vector*>>& pairs)
    requires std::same_as<S, Cpu>
{
    constexpr std::size_t together = 4;  // sums that do not wait for each other's additions
    std::vector<double> total(pairs.size());
    if (pairs.empty()) return total;
    const auto add = [&]<std::size_t count>(std::size_t k, index_t i, index_t end, double* sums) {
        const double *x[count], *y[count];
        double sum[count]{};
        for (std::size_t c = 0; c < count; ++c) x[c] = pairs[k + c].first->data(), y[c] = pairs[k + c].second->data();
        for (; i < end; ++i)
            for (std::size_t c = 0; c < count; ++c) sum[c] += x[c][i] * y[c][i];
        for (std::size_t c = 0; c < count; ++c) sums[k + c] = sum[c];
    };
    products_.resize(sum_runs_count * pairs.size());
    for_each_run(on_, pairs[0].first->size(), [&](index_t run, index_t i, index_t end) {
        double* const sums = products_.data() + static_cast<std::size_t>(run) * pairs.size();
        std::size_t k = 0;
        for (; k + together <= pairs.size(); k += together) add.template operator()<together>(k, i, end, sums);
        for (; k < pairs.size(); ++k) add.template operator()<1>(k, i, end, sums);
    });
    for (std::size_t run = 0; run < sum_runs_count; ++run)
        for (std::size_t k = 0; k < total.size(); ++k) total[k] += products_[run * pairs.size() + k];
    return total;
}

template <Space S>
void VectorAlgebra<S>::add_products(const std::vector<const Vector*>& x, const double* factors, std::vector<Vector>& y)
    requires std::same_as<S, Cpu>
{
    constexpr index_t tile = 256;  // entries of all vectors that stay in the cache
    for_each_range(on_, y[0].size(), [&](index_t first, index_t end) {
        for (; first < end; first += tile)
            for (std::size_t j = 0; j < y.size(); ++j)
                for (std::size_t i = 0; i < x.size(); ++i) {
                    const double a = factors[i * y.size() + j];
                    const double* const from = x[i]->data();
                    double* const to = y[j].data();
                    if (a == 0) continue;
                    for (index_t e = first; e < std::min(first + tile, end); ++e) to[e] += a * from[e];
                }
    });
}

template <Space S>
std::pair<double, double> VectorAlgebra<S>::dot_norm2(const Vector& x, const Vector& y) {
    const auto sums = sum(x.size(), ProductAndSquare{x.data(), y.data()});
    return {sums.first, sums.second};
}

template <Space S>
void VectorAlgebra<S>::axpby(double a, const Vector& x, double b, Vector& y) {
    parallel_for(on_, y.size(), Combine{a, b, x.data(), y.data()});
}

template <Space S>
double VectorAlgebra<S>::axpy_norm2(double a, const Vector& x, Vector& y) {
    return sum(x.size(), AddAndSquare{a, x.data(), y.data()}).first;
}

template <Space S>
void VectorAlgebra<S>::direction(const Vector& r, double beta, double omega, const Vector& v, Vector& p) {
    parallel_for(on_, p.size(), Direction{r.data(), beta, omega, v.data(), p.data()});
}

template <Space S>
std::pair<double, double> VectorAlgebra<S>::finish(double alpha, const Vector& p, double omega, const Vector& t, const Vector& shadow,
                                                   Vector& x, Vector& r) {
    const auto sums = sum(x.size(), Finish{alpha, omega, p.data(), t.data(), shadow.data(), x.data(), r.data()});
    return {sums.first, sums.second};
}

template <Space S>
double VectorAlgebra<S>::step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    return sum(x.size(), StepBoth{a, p.data(), q.data(), x.data(), r.data()}).first;
}

template <Space S>
double VectorAlgebra<S>::remove_mean(Vector& x) {
    const double mean = sum(x.size(), Entry{x.data()}).first / static_cast<double>(x.size());
    parallel_for(on_, x.size(), Lower{mean, x.data()});
    return mean;
}

template class VectorAlgebra<KS_SPACE>;

}  // namespace kasane::sparse
