// SPDX-License-Identifier: Apache-2.0
#include "firmware/tl/kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cubevp::tl {

namespace {

std::string display(std::string_view name, std::uint32_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

}  // namespace

std::uint64_t Args::key(std::string_view name, std::uint32_t i) {
  // FNV-1a over the name, a separator that no name contains, and the index.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&hash](unsigned char byte) {
    hash ^= byte;
    hash *= 0x100000001b3ULL;
  };
  for (const char c : name) {
    mix(static_cast<unsigned char>(c));
  }
  mix(0);
  for (int shift = 0; shift < 32; shift += 8) {
    mix(static_cast<unsigned char>(i >> shift));
  }
  return hash;
}

void Args::put(std::string_view name, std::uint32_t i, std::uint64_t bits) {
  const std::uint64_t k = key(name, i);
  const auto known = names_.find(k);
  if (known != names_.end() && known->second != display(name, i)) {
    throw std::invalid_argument("arguments " + known->second + " and " + display(name, i) +
                                " have the same key: rename one");
  }
  if (known == names_.end()) {
    names_.emplace(k, display(name, i));
  }
  values_[k] = bits;
}

std::uint64_t Args::word(std::string_view name, std::uint32_t i) const {
  const auto it = values_.find(key(name, i));
  if (it == values_.end()) {
    throw std::out_of_range("no argument " + display(name, i));
  }
  return it->second;
}

void Args::set(std::string_view name, std::int64_t value, std::uint32_t i) {
  put(name, i, static_cast<std::uint64_t>(value));
}

void Args::set_real(std::string_view name, double value, std::uint32_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  put(name, i, bits);
}

bool Args::has(std::string_view name, std::uint32_t i) const {
  return values_.count(key(name, i)) != 0;
}

std::int64_t Args::integer(std::string_view name, std::uint32_t i) const {
  return static_cast<std::int64_t>(word(name, i));
}

double Args::real(std::string_view name, std::uint32_t i) const {
  const std::uint64_t bits = word(name, i);
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::vector<std::uint64_t> Args::to_words() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs(values_.begin(), values_.end());
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::uint64_t> words{pairs.size()};
  for (const auto& [k, value] : pairs) {
    words.push_back(k);
    words.push_back(value);
  }
  return words;
}

Args Args::from_words(const std::vector<std::uint64_t>& words) {
  if (words.empty() || (words.size() - 1) % 2 != 0 || words[0] != (words.size() - 1) / 2) {
    throw std::invalid_argument("argument block: its count does not fit its " +
                                std::to_string(words.size()) + " words");
  }
  Args args;
  for (std::size_t i = 1; i < words.size(); i += 2) {
    if (!args.values_.emplace(words[i], words[i + 1]).second) {
      throw std::invalid_argument("argument block: two values have the same key");
    }
  }
  return args;
}

void KernelRegistry::add(KernelInfo info) {
  if (find(info.name) != nullptr) {
    throw std::invalid_argument("kernel " + info.name + " is registered twice");
  }
  if (info.function == nullptr) {
    throw std::invalid_argument("kernel " + info.name + " has no function");
  }
  kernels_.push_back(std::move(info));
}

const KernelInfo* KernelRegistry::find(std::string_view name) const {
  for (const KernelInfo& k : kernels_) {
    if (k.name == name) {
      return &k;
    }
  }
  return nullptr;
}

std::uint32_t KernelRegistry::number_of(std::string_view name) const {
  const KernelInfo* k = find(name);
  if (k == nullptr) {
    throw std::invalid_argument("no kernel is named " + std::string(name));
  }
  return static_cast<std::uint32_t>(k - kernels_.data());
}

}  // namespace cubevp::tl
