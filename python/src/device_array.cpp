// Arrays in the memory of a CUDA device, from DLPack or from the CUDA array interface. The package (arrays.py) checks shape and type first.
#include <src/binding.hpp>

#include <algorithm>
#include <cstdlib>
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

#if defined(KASANE_CUDA)
DeviceArray DeviceArray::zeros(std::vector<index_t> shape, const std::string& type, const std::string& device) {
    const AnySpace space = space_named(device);
    const auto* on = std::get_if<Cuda>(&space);
    KS_VALIDATE(on != nullptr, "is " + device + ": a CUDA device is expected", {"", 0, 0, "device"});
    DeviceArray array;
    array.shape_ = std::move(shape), array.type_ = type, array.device_ = on->device;
    array.own_ = std::make_shared<Buffer<std::byte, Cuda>>(*on, array.size() * array.bytes_per_element());
    const std::vector<std::byte> nothing(static_cast<std::size_t>(array.own_->size()));
    copy_from_host(*on, array.own_->view(), kasane::view(nothing));
    array.address_ = array.own_->data();
    return array;
}

Array<std::uint8_t> DeviceArray::bytes() const {
    KS_REQUIRE(contiguous_, "an array that is not contiguous has no contiguous bytes");
    std::vector<std::uint8_t> values(static_cast<std::size_t>(size() * bytes_per_element()));
    copy_to_host(Cuda{device_}, kasane::view(values),
                 View<const std::uint8_t>(static_cast<const std::uint8_t*>(address_), size() * bytes_per_element()));
    return owned(std::move(values));
}

void DeviceArray::assign(const DeviceArray& from) {
    KS_REQUIRE(from.type_ == type_ && from.size() == size() && from.device_ == device_ && from.contiguous_ && contiguous_,
               "arrays of different type, size or device are assigned");
    const auto bytes = static_cast<std::size_t>(size() * bytes_per_element());
    if (bytes > 0) cuda::copy_on_device(Cuda{device_}, const_cast<void*>(address_), from.address_, bytes);
    cuda::synchronize(Cuda{device_});
}
#else
DeviceArray DeviceArray::zeros(std::vector<index_t>, const std::string&, const std::string& device) {
    static_cast<void>(space_named(device == "cpu" ? "cuda" : device));  // throws with the reason
    throw LogicError("this build has no CUDA");
}
Array<std::uint8_t> DeviceArray::bytes() const { return owned(std::vector<std::uint8_t>()); }
void DeviceArray::assign(const DeviceArray&) {}
#endif

nb::object DeviceArray::dlpack(nb::handle_t<DeviceArray> self) {
    const auto& own = nb::cast<const DeviceArray&>(self);
    const std::vector<std::size_t> shape(own.shape_.begin(), own.shape_.end());
    const nb::dlpack::dtype type = own.type_ == "complex128" ? nb::dtype<std::complex<double>>() : nb::dtype<double>();
    return nb::cast(nb::ndarray<>(const_cast<void*>(own.address_), shape.size(), shape.data(), self, nullptr, type, nb::device::cuda::value,
                                  own.device_));
}

int DeviceArray::bytes_per_element() const {
    if (type_ == "bool") return 1;
    return std::atoi(type_.c_str() + type_.find_first_of("0123456789")) / 8;
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
        .def_static("zeros", &DeviceArray::zeros, nb::arg("shape"), nb::arg("type"), nb::arg("device"))
        .def("bytes", &DeviceArray::bytes, "The elements of a contiguous array, copied to the host.")
        .def("assign", &DeviceArray::assign, nb::arg("array"))
        .def("dlpack", &DeviceArray::dlpack, "A capsule of DLPack; the memory is kept as long as it is.")
        .def_prop_ro("shape", [](const DeviceArray& a) { return nb::tuple(nb::cast(a.shape())); })
        .def_prop_ro("type", [](const DeviceArray& a) { return a.type(); })
        .def_prop_ro("contiguous", &DeviceArray::contiguous)
        .def_prop_ro("address", &DeviceArray::address, "Of the first element; equal addresses show that nothing was copied.")
        .def_prop_ro("device", &DeviceArray::device);
}

}  // namespace kasane::python
