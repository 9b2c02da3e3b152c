# shellcheck shell=bash
# What the scripts demo and test share; sourced at the top of the checkout.

# Arguments of every configuration, and the NVRTC of every run: the toolkit that setup has put into
# .deps/cuda, where it had to.
configure_arguments=()
if [[ -d .deps/cuda/include ]]; then
  configure_arguments+=("-DTILEJIT_CUDA_INCLUDE_DIR=$PWD/.deps/cuda/include")
  export TILEJIT_NVRTC="$PWD/.deps/cuda/lib"
fi
if command -v ccache >/dev/null; then
  configure_arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

step() { printf '\n== %s\n' "$*"; }

# configure PRESET [ARGUMENT...]: quiet unless it fails.
configure() {
  local preset="$1" log="build/$1/configure.log"
  shift
  mkdir -p "build/$preset"
  cmake --preset "$preset" "${configure_arguments[@]}" "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
}
