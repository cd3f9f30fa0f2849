// Arrays in the memory of a CUDA device, from DLPack or from the CUDA array interface. The package (arrays.py) checks shape and type first.
#include <src/binding.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace kasane::python {
namespace {

/// Strides are those of the last index fastest; dimensions of one element do not count. @param unit  stride of neighbouring elements
bool is_contiguous(const std::vector<index_t>& shape, const std::vector<index_t>& strides, index_t unit) {
    index_t expected = unit;
    for (std::size_t k = shape.size(); k-- > 0;) {
        if (shape[k] == 0) return true;
        if (shape[k] != 1 && strides[k] != expected) return false;
        expected *= shape[k];
    }
    return true;
}

/// NumPy's name of a kind (f, i, u, c, b) and a number of bits.
std::string type_name(char kind, int bits) {
    switch (kind) {
        case 'f': return "float" + std::to_string(bits);
        case 'i': return "int" + std::to_string(bits);
        case 'u': return "uint" + std::to_string(bits);
        case 'c': return "complex" + std::to_string(bits);
        case 'b': return "bool";
        default: return "of another kind";
    }
}

char kind_of(const nb::dlpack::dtype& type) {
    switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
        case nb::dlpack::dtype_code::Float: return 'f';
        case nb::dlpack::dtype_code::Int: return 'i';
        case nb::dlpack::dtype_code::UInt: return 'u';
        case nb::dlpack::dtype_code::Complex: return 'c';
        case nb::dlpack::dtype_code::Bool: return 'b';
        default: return '?';
    }
}

}  // namespace

DeviceArray::DeviceArray(const nb::ndarray<nb::ro, nb::device::cuda>& array)
    : address_(array.data()), type_(type_name(kind_of(array.dtype()), array.dtype().bits)), device_(array.device_id()), array_(array) {
    std::vector<index_t> strides;
    for (std::size_t k = 0; k < array.ndim(); ++k) {
        shape_.push_back(static_cast<index_t>(array.shape(k)));
        strides.push_back(static_cast<index_t>(array.stride(k)));
    }
    contiguous_ = is_contiguous(shape_, strides, 1);
}

DeviceArray::DeviceArray(std::uintptr_t address, std::vector<index_t> shape, const std::optional<std::vector<index_t>>& byte_strides,
                         const std::string& type, nb::object owner)
    : address_(reinterpret_cast<const void*>(address)), shape_(std::move(shape)), owner_(std::move(owner)) {
    const int bytes = type.size() > 2 ? std::atoi(type.c_str() + 2) : 0;
    KS_VALIDATE(bytes > 0 && type[0] != '>', "has the type '" + type + "': numbers in the byte order of this machine are expected",
                {"", 0, 0, ""});
    type_ = type_name(type[1], 8 * bytes);
    if (byte_strides) {
        KS_VALIDATE(byte_strides->size() == shape_.size(), "has strides and a shape of different lengths", {"", 0, 0, ""});
        contiguous_ = is_contiguous(shape_, *byte_strides, bytes);
    }
    if (size() == 0) return;
    const auto device = cuda_device_of(address_);
    KS_VALIDATE(device.has_value(), "is in the memory of no CUDA device: it was freed, or it belongs to another process or library");
    device_ = *device;
}

index_t DeviceArray::size() const { return std::accumulate(shape_.begin(), shape_.end(), index_t{1}, std::multiplies<>()); }

void DeviceArray::require(const char* type) const {
    KS_REQUIRE(type_ == type && contiguous_, "an array of " + type_ + " on a device is not a contiguous one of " + type);
}

void DeviceArray::require_on(const AnySpace& space, const char* key) const {
    const auto here = "cuda:" + std::to_string(device_);
    KS_VALIDATE(name(space) == here,
                "is in the memory of " + here + ", and the object computes on " + name(space) +
                    ": copy it there (to the host: .get() of CuPy, .cpu() of torch)",
                {"", 0, 0, key});
}

void bind_device_array(nb::module_& m) {
    nb::class_<DeviceArray>(m, "DeviceArray", "An array of another library in the memory of a CUDA device.")
        .def(nb::init<const nb::ndarray<nb::ro, nb::device::cuda>&>(), nb::arg("array").noconvert())
        .def(nb::init<std::uintptr_t, std::vector<index_t>, const std::optional<std::vector<index_t>>&, const std::string&, nb::object>(),
             nb::arg("address"), nb::arg("shape"), nb::arg("byte_strides").none(), nb::arg("type"), nb::arg("owner"))
        .def_prop_ro("shape", [](const DeviceArray& a) { return nb::tuple(nb::cast(a.shape())); })
        .def_prop_ro("type", [](const DeviceArray& a) { return a.type(); })
        .def_prop_ro("contiguous", &DeviceArray::contiguous)
        .def_prop_ro("address", &DeviceArray::address, "Of the first element; equal addresses show that nothing was copied.")
        .def_prop_ro("device", &DeviceArray::device);
}

}  // namespace kasane::python
