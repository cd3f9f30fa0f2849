// The plugin behind sparse.solve.peer.cusparse: conjugate gradients with cuSPARSE's incomplete Cholesky factor (csric02) and triangular
// solves (SpSV), combined from library calls as in the library's samples: dot products return to the host in every iteration.
#define DISABLE_CUSPARSE_DEPRECATED  // csric02 has no successor yet
#include <bench/sparse/peers/cusparse.hpp>
#include <kasane/core/base/timer.hpp>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace {

using kasane::bench::CusparseSolve, kasane::bench::CusparseSystem;

void check(cudaError_t status, const char* call) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(cudaGetErrorString(status)) + " in " + call);
}
void check(cusparseStatus_t status, const char* call) {
    if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(std::string(cusparseGetErrorString(status)) + " in " + call);
}
void check(cublasStatus_t status, const char* call) {
    if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(std::string(cublasGetStatusString(status)) + " in " + call);
}
#define CHECKED(call) check((call), #call)

/// A handle that its library's own function destroys.
template <class Handle, auto destroy>
struct Destroyer {
    using pointer = Handle;
    void operator()(Handle handle) const { static_cast<void>(destroy(handle)); }
};
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<Handle, destroy>>;

template <class T>
class Array {
   public:
    explicit Array(std::size_t n) { CHECKED(cudaMalloc(&data_, std::max<std::size_t>(n, 1) * sizeof(T))); }
    Array(const T* host, std::size_t n) : Array(n) { CHECKED(cudaMemcpy(data_, host, n * sizeof(T), cudaMemcpyHostToDevice)); }
    ~Array() { static_cast<void>(cudaFree(data_)); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    T* get() const { return static_cast<T*>(data_); }

   private:
    void* data_ = nullptr;
};

using SparseHandle = Owned<cusparseHandle_t, cusparseDestroy>;
using BlasHandle = Owned<cublasHandle_t, cublasDestroy>;
using LegacyDescription = Owned<cusparseMatDescr_t, cusparseDestroyMatDescr>;
using FactorInfo = Owned<csric02Info_t, cusparseDestroyCsric02Info>;
using Solve = Owned<cusparseSpSVDescr_t, cusparseSpSV_destroyDescr>;

template <class Handle, class Create>
Handle made(Create create) {
    typename Handle::pointer raw{};
    CHECKED(create(&raw));
    return Handle(raw);
}

struct MatrixDescription {
    cusparseSpMatDescr_t get = nullptr;
    MatrixDescription(const CusparseSystem& A, const Array<int>& begin, const Array<int>& column, const Array<double>& value) {
        CHECKED(cusparseCreateCsr(&get, A.rows, A.rows, A.nonzeros, begin.get(), column.get(), value.get(), CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    }
    ~MatrixDescription() { static_cast<void>(cusparseDestroySpMat(get)); }
    MatrixDescription(const MatrixDescription&) = delete;
};

struct Vector {
    Array<double> data;
    cusparseDnVecDescr_t get = nullptr;
    explicit Vector(int n) : data(static_cast<std::size_t>(n)) { CHECKED(cusparseCreateDnVec(&get, n, data.get(), CUDA_R_64F)); }
    ~Vector() { static_cast<void>(cusparseDestroyDnVec(get)); }
    Vector(const Vector&) = delete;
};

double seconds_of(kasane::Stopwatch& watch) {
    CHECKED(cudaDeviceSynchronize());
    const double seconds = watch.seconds();
    watch.restart();
    return seconds;
}

/// L with L L^T = A on A's pattern, into the lower triangle of `factor`, which holds A's values.
void factorise(cusparseHandle_t cusparse, const CusparseSystem& A, const Array<int>& begin, const Array<int>& column,
               Array<double>& factor) {
    const auto description = made<LegacyDescription>(cusparseCreateMatDescr);
    CHECKED(cusparseSetMatType(description.get(), CUSPARSE_MATRIX_TYPE_GENERAL));
    const auto info = made<FactorInfo>(cusparseCreateCsric02Info);
    int bytes = 0;
    CHECKED(cusparseDcsric02_bufferSize(cusparse, A.rows, A.nonzeros, description.get(), factor.get(), begin.get(), column.get(),
                                        info.get(), &bytes));
    const Array<char> buffer(static_cast<std::size_t>(bytes));
    CHECKED(cusparseDcsric02_analysis(cusparse, A.rows, A.nonzeros, description.get(), factor.get(), begin.get(), column.get(), info.get(),
                                      CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer.get()));
    CHECKED(cusparseDcsric02(cusparse, A.rows, A.nonzeros, description.get(), factor.get(), begin.get(), column.get(), info.get(),
                             CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer.get()));
    int row = -1;
    if (cusparseXcsric02_zeroPivot(cusparse, info.get(), &row) == CUSPARSE_STATUS_ZERO_PIVOT)
        throw std::runtime_error("csric02 lost the pivot of row " + std::to_string(row + 1));
}

/// One of the two triangular solves with L.
class Substitution {
   public:
    Substitution(cusparseHandle_t cusparse, cusparseOperation_t operation, const MatrixDescription& L, const Vector& in, const Vector& out)
        : cusparse_(cusparse), operation_(operation), L_(L.get), in_(in.get), out_(out.get), solve_(made<Solve>(cusparseSpSV_createDescr)) {
        std::size_t bytes = 0;
        CHECKED(cusparseSpSV_bufferSize(cusparse_, operation_, &one_, L_, in_, out_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, solve_.get(),
                                        &bytes));
        buffer_ = std::make_unique<Array<char>>(bytes);
        CHECKED(cusparseSpSV_analysis(cusparse_, operation_, &one_, L_, in_, out_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, solve_.get(),
                                      buffer_->get()));
    }
    void operator()() const {
        CHECKED(cusparseSpSV_solve(cusparse_, operation_, &one_, L_, in_, out_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, solve_.get()));
    }

   private:
    cusparseHandle_t cusparse_;
    cusparseOperation_t operation_;
    cusparseSpMatDescr_t L_;
    cusparseDnVecDescr_t in_, out_;
    Solve solve_;
    std::unique_ptr<Array<char>> buffer_;  // the descriptor keeps a pointer to it
    double one_ = 1;
};

void solve(const CusparseSystem& A, double* x_host, CusparseSolve& out) {
    CHECKED(cudaSetDevice(A.device));
    const auto cusparse = made<SparseHandle>(cusparseCreate);
    const auto cublas = made<BlasHandle>(cublasCreate);
    int version = 0;
    CHECKED(cusparseGetVersion(cusparse.get(), &version));
    std::snprintf(out.version, sizeof out.version, "%d.%d.%d", version / 1000, version % 1000 / 100, version % 100);
    const auto rows = static_cast<std::size_t>(A.rows), nonzeros = static_cast<std::size_t>(A.nonzeros);
    const Array<int> begin(A.begin, rows + 1), column(A.column, nonzeros);
    const Array<double> value(A.value, nonzeros);
    Array<double> factor(A.value, nonzeros);
    const Array<double> b(A.b, rows);
    const Vector x(A.rows), r(A.rows), y(A.rows), z(A.rows), p(A.rows), q(A.rows);

    CHECKED(cudaDeviceSynchronize());
    kasane::Stopwatch watch;
    factorise(cusparse.get(), A, begin, column, factor);
    out.factor_seconds = seconds_of(watch);

    const MatrixDescription matrix(A, begin, column, value), L(A, begin, column, factor);
    auto fill = CUSPARSE_FILL_MODE_LOWER;
    auto diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    CHECKED(cusparseSpMatSetAttribute(L.get, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    CHECKED(cusparseSpMatSetAttribute(L.get, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    const Substitution forward(cusparse.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, L, r, y),
        backward(cusparse.get(), CUSPARSE_OPERATION_TRANSPOSE, L, y, z);
    out.analysis_seconds = seconds_of(watch);

    const double one = 1, zero = 0;
    std::size_t bytes = 0;
    CHECKED(cusparseSpMV_bufferSize(cusparse.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix.get, p.get, &zero, q.get, CUDA_R_64F,
                                    CUSPARSE_SPMV_CSR_ALG1, &bytes));
    const Array<char> buffer(bytes);
    const auto dot = [&](const Vector& left, const Vector& right) {
        double result = 0;
        CHECKED(cublasDdot(cublas.get(), A.rows, left.data.get(), 1, right.data.get(), 1, &result));
        return result;
    };
    const auto axpy = [&](double a, const Vector& from, const Vector& to) {
        CHECKED(cublasDaxpy(cublas.get(), A.rows, &a, from.data.get(), 1, to.data.get(), 1));
    };
    const auto copy = [&](const double* from, const Vector& to) {
        CHECKED(cudaMemcpyAsync(to.data.get(), from, rows * sizeof(double), cudaMemcpyDeviceToDevice));
    };
    out.solve_seconds = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 3; ++repeat) {
        CHECKED(cudaMemset(x.data.get(), 0, rows * sizeof(double)));
        copy(b.get(), r);
        CHECKED(cudaDeviceSynchronize());
        watch.restart();
        double r2 = dot(r, r), rz = 0;
        const double stop = A.tolerance * A.tolerance * r2, b2 = r2;
        for (out.iterations = 0; out.iterations < A.iteration_limit && r2 > stop; ++out.iterations) {
            forward();
            backward();
            const double before = rz;
            rz = dot(r, z);
            if (out.iterations == 0) {
                copy(z.data.get(), p);
            } else {
                const double beta = rz / before;
                CHECKED(cublasDscal(cublas.get(), A.rows, &beta, p.data.get(), 1));
                axpy(1, z, p);
            }
            CHECKED(cusparseSpMV(cusparse.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix.get, p.get, &zero, q.get, CUDA_R_64F,
                                 CUSPARSE_SPMV_CSR_ALG1, buffer.get()));
            const double alpha = rz / dot(p, q);
            axpy(alpha, p, x);
            axpy(-alpha, q, r);
            r2 = dot(r, r);
        }
        out.solve_seconds = std::min(out.solve_seconds, seconds_of(watch));
        out.residual = b2 > 0 ? std::sqrt(r2 / b2) : 0;
    }
    CHECKED(cudaMemcpy(x_host, x.data.get(), rows * sizeof(double), cudaMemcpyDeviceToHost));
}

}  // namespace

extern "C" bool kasane_cusparse_cg(const CusparseSystem& system, double* x, CusparseSolve& out, char* why, int why_size) {
    try {
        solve(system, x, out);
        return true;
    } catch (const std::exception& error) {
        std::snprintf(why, static_cast<std::size_t>(why_size), "%s", error.what());
        return false;
    }
}
