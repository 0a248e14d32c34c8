// The exceptions that are thrown on purpose.
#pragma once

// IWYU pragma: begin_exports
#include "sim/core/base/errors.hpp"
// IWYU pragma: end_exports
