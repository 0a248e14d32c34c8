// Has mimalloc ask for large pages (2 MiB). A simulation of thousands of ranks visits their memory
// in an order that no cache and no table of pages foresees. Small runs stay in mimalloc's first
// segment (32 MiB), which has small pages. The environment's MIMALLOC_LARGE_OS_PAGES=0 comes first.
#include <mimalloc.h>

namespace {

const bool kLargePages = [] {
  mi_option_set_enabled_default(mi_option_large_os_pages, true);
  return true;
}();

}  // namespace
