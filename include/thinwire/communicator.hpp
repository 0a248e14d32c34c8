// What the schedule of a rank is written with.
#pragma once

// IWYU pragma: begin_exports
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/group.hpp"
#include "sim/core/kernel/message.hpp"
#include "sim/core/kernel/task.hpp"
// IWYU pragma: end_exports
