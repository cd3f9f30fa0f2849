#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/cuda_code.hpp>
#include <kasane/core/device/host_copies.hpp>
#include <kasane/core/device/memory_use.hpp>
#include <kasane/core/device/reused_memory.hpp>
#include <kasane/core/device/space_cuda.hpp>

#include <map>
#include <mutex>

namespace kasane::cuda {

int device_count() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string why_none() {
    int count = 0;
    const auto status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) {
        for (int device = 0; device < count; ++device)
            if (why_no_code(device).empty()) return "";
        return why_no_code(0);
    }
    static_cast<void>(cudaGetLastError());
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) return "no CUDA device was found";
    int driver = 0;
    if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        return "no NVIDIA driver is installed";
    return std::string("the CUDA driver says: ") + cudaGetErrorString(status);
}

std::string why_no_code(int device) {
    cudaDeviceProp properties{};
    KS_CUDA(cudaGetDeviceProperties(&properties, device));
    return why_no_cuda_code(KASANE_CUDA_CODE, properties.name, {properties.major, properties.minor});
}

namespace {
DeviceInfo asked_info(int device) {
    cudaDeviceProp properties{};
    KS_CUDA(cudaGetDeviceProperties(&properties, device));
    int kilohertz = 0;
    KS_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
    DeviceInfo info;
    info.name = properties.name;
    info.kind = "cuda";
    info.memory_bytes = properties.totalGlobalMem;
    info.units = properties.multiProcessorCount;
    info.clock_hertz = 1e3 * kilohertz;
    info.capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    return info;
}
}  // namespace

DeviceInfo info(int device) {
    static std::mutex mutex;
    static auto& known = *new std::map<int, DeviceInfo>;  // the runtime takes 0.7 ms to answer
    const std::lock_guard lock(mutex);
    const auto found = known.find(device);
    return found != known.end() ? found->second : known.emplace(device, asked_info(device)).first->second;
}

std::uint64_t free_memory(int device) {
    KS_CUDA(cudaSetDevice(device));
    std::size_t free = 0, total = 0;
    KS_CUDA(cudaMemGetInfo(&free, &total));
    return free;
}

void synchronize(Cuda on) {
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaStreamSynchronize(on.stream));
}

void* allocate(Cuda on, std::size_t bytes) {
    if (void* const reused = take_reused(on, bytes)) return reused;
    KS_CUDA(cudaSetDevice(on.device));
    void* memory = nullptr;
    KS_CUDA(cudaMalloc(&memory, bytes));
    kasane::detail::count_allocation(on.device, memory, bytes);
    return memory;
}

void release(Cuda on, void* memory) noexcept {
    if (give_reused(on, memory)) return;
    kasane::detail::count_release(on.device, memory);
    // A destructor cannot throw, and at process exit the runtime may already be gone: errors are ignored here.
    static_cast<void>(cudaSetDevice(on.device));
    static_cast<void>(cudaFree(memory));
}

void copy_to_device(Cuda on, void* to, const void* from_host, std::size_t bytes) {
    KS_CUDA(cudaSetDevice(on.device));
    detail::count_host_copy(bytes);
    KS_CUDA(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, on.stream));
    KS_CUDA(cudaStreamSynchronize(on.stream));
}

void copy_to_host(Cuda on, void* to_host, const void* from, std::size_t bytes) {
    KS_CUDA(cudaSetDevice(on.device));
    detail::count_host_copy(bytes);
    KS_CUDA(cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, on.stream));
    KS_CUDA(cudaStreamSynchronize(on.stream));
}

void copy_on_device(Cuda on, void* to, const void* from, std::size_t bytes) {
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on.stream));
}

}  // namespace kasane::cuda
