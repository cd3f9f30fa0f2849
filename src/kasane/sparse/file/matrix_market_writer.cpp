// Writes Matrix Market files: every number with the fewest digits (at most 17) that restore it exactly.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/file/check_written.hpp>
#include <kasane/sparse/file/matrix_file.hpp>

#include <charconv>
#include <complex>
#include <string>
#include <string_view>

namespace kasane::sparse {
namespace {

/// Collects text and writes it in blocks.
class MarketWriter {
   public:
    MarketWriter(const std::filesystem::path& path, std::string_view type) : file_(path) {
        block_.reserve(block + 64);
        block_ = "%%MatrixMarket matrix ";
        block_ += type;
        block_ += '\n';
    }
    template <class Number>
    void put(Number number, char behind) {
        char text[32];
        const auto [end, error] = std::to_chars(text, text + sizeof text, number);
        block_.append(text, end);
        block_ += behind;
        if (block_.size() >= block) flush();
    }
    void commit() {
        flush();
        file_.commit();
    }

   private:
    void flush() {
        file_.write(block_);
        block_.clear();
    }
    static constexpr std::size_t block = std::size_t{1} << 20;
    AtomicFile file_;
    std::string block_;
};

}  // namespace

namespace {

void put_value(MarketWriter& file, double value) { file.put(value, '\n'); }
void put_value(MarketWriter& file, std::complex<double> value) { file.put(value.real(), ' '), file.put(value.imag(), '\n'); }

/// @param triangle  write the lower triangle alone
template <class Value>
void write_matrix(const std::filesystem::path& path, std::string_view type, const CsrView& A, const Value* value, bool triangle) {
    index_t entries = A.begin(A.n);
    if (triangle) {
        entries = 0;
        for (index_t row = 0; row < A.n; ++row)
            for (auto k = A.begin(row); k < A.end(row); ++k) entries += A.column(k) <= row;
    }
    MarketWriter file(path, type);
    file.put(A.n, ' '), file.put(A.n, ' '), file.put(entries, '\n');
    for (index_t row = 0; row < A.n; ++row)
        for (auto k = A.begin(row); k < A.end(row); ++k) {
            if (triangle && A.column(k) > row) continue;
            file.put(row + 1, ' '), file.put(A.column(k) + 1, ' '), put_value(file, value[k]);
        }
    file.commit();
}

template <class Value>
void write_vectors(const std::filesystem::path& path, std::string_view type, View<const Value> x, index_t columns) {
    KS_REQUIRE(columns >= 1 && x.n % columns == 0, "the vectors of a file have one size");
    KS_VALIDATE(x.n > 0, "is empty: it has no numbers, and a file of it cannot be read", {"the vector", 0, 0, ""});
    require_finite(x, "the vector");
    MarketWriter file(path, type);
    file.put(x.n / columns, ' '), file.put(columns, '\n');
    for (const Value& value : x) put_value(file, value);
    file.commit();
}

}  // namespace

void write_matrix_market(const std::filesystem::path& path, const CsrView& A, bool symmetric) {
    check_written(A, symmetric);
    write_matrix(path, symmetric ? "coordinate real symmetric" : "coordinate real general", A, A.value, symmetric);
}

void write_matrix_market(const std::filesystem::path& path, const ComplexCsrView& A, bool hermitian) {
    check_written(A, hermitian);
    write_matrix(path, hermitian ? "coordinate complex hermitian" : "coordinate complex general", A.pattern, A.value, hermitian);
}

void write_vector_market(const std::filesystem::path& path, View<const double> x, index_t columns) {
    write_vectors(path, "array real general", x, columns);
}

void write_vector_market(const std::filesystem::path& path, View<const std::complex<double>> x, index_t columns) {
    write_vectors(path, "array complex general", x, columns);
}

}  // namespace kasane::sparse
