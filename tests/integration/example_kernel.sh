#!/usr/bin/env bash
# Installs CubeVP, builds examples/kernel against what was installed and runs it there.
set -euo pipefail
build=$1 source=$2 compiler=$3 flags=${4:-}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$build" --prefix "$folder/cubevp" >/dev/null
# A copy, so that nothing but the installation can be found.
cp -r "$source/examples/kernel" "$folder/example"
cd "$folder/example"
cmake -S . -B build -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" \
  -DCMAKE_PREFIX_PATH="$folder/cubevp" >/dev/null
cmake --build build
platform=$folder/cubevp/bin/platform
"$platform" list kernels --kernel-lib build/plain_attention.so | grep plain_attention
"$platform" --config plain_attention.yaml --kernel-lib build/plain_attention.so | tee summary
grep -q 'check  *pass' summary
# The installed run files are found too.
"$platform" validate --config llama70b_decode.yaml
