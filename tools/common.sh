# shellcheck shell=bash
# The scripts demo and test share this file; they source it at the top of the checkout.

# If setup had to fetch wheels, everything uses those: an installed toolkit is too old, or hidden.
if [[ -d .deps/cuda ]]; then export TILEJIT_NO_TOOLKIT=1; fi
configure_arguments=()
if command -v ccache >/dev/null; then
  configure_arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

step() { printf '\n== %s\n' "$*"; }

# configure PRESET [ARGUMENT...]: prints nothing unless it fails.
configure() {
  local preset="$1" log="build/$1/configure.log"
  shift
  mkdir -p "build/$preset"
  cmake --preset "$preset" "${configure_arguments[@]}" "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
}
