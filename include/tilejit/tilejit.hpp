#pragma once

#include "tilejit/compiler.hpp"
#include "tilejit/dtype.hpp"
#include "tilejit/error.hpp"
#include "tilejit/fused.hpp"
#include "tilejit/kernel.hpp"
#include "tilejit/layout.hpp"
#include "tilejit/layout_algebra.hpp"
#include "tilejit/options.hpp"
#include "tilejit/reference.hpp"
#include "tilejit/runtime.hpp"
#include "tilejit/target.hpp"
#include "tilejit/version.hpp"
