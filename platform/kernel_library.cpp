// SPDX-License-Identifier: Apache-2.0
#include "platform/kernel_library.h"

#include <dlfcn.h>

#include <exception>

#include "firmware/kernels/kernels.h"
#include "platform/check/errors.h"

namespace cubevp::platform {

tl::KernelRegistry load_kernels(const std::vector<std::string>& libraries) {
  tl::KernelRegistry registry;
  kernels::register_kernels(registry);
  for (const std::string& file : libraries) {
    // dlopen looks a bare name up in system directories; a user means the file.
    const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw InputError("--kernel-lib: " + std::string(dlerror()));
    }
    const auto entry =
        reinterpret_cast<tl::KernelLibraryEntry>(dlsym(library, tl::kKernelLibraryEntry));
    if (entry == nullptr) {
      throw InputError("--kernel-lib: " + file + ": expected a function " +
                       tl::kKernelLibraryEntry + ", found none");
    }
    try {
      entry(registry);
    } catch (const std::exception& e) {
      throw InputError("--kernel-lib: " + file + ": " + e.what());
    }
  }
  return registry;
}

}  // namespace cubevp::platform
