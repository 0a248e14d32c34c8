// Parts of Thinwire that bring a large library along. Each is a shared object of its own, which a
// process loads when it first needs it: half of the time of a short command would go into libraries
// that it does not use.
//
// A module has its own copy of what it uses of Thinwire's other code, and gives its functions away
// in a table: a constant of extern "C". `thinwire_module` in CMakeLists.txt builds and installs one.
#pragma once

#include <string>

namespace thinwire::inline base {

/// A shared object that is loaded when something of it is first needed.
struct Module {
  const char* name;    ///< of its file, without extension
  const char* brings;  ///< the library, and what it is for, for messages: "SimGrid, which ..."

  /// The table with that name. Loads the module unless it is there. Throws SimulationError where it
  /// is missing, does not load, or is of another build than this code.
  template <class Table>
  [[nodiscard]] const Table& table(const char* symbol) const {
    return *static_cast<const Table*>(exported(symbol));
  }

  /// The file that is loaded; empty where it is missing.
  [[nodiscard]] std::string file() const;

 private:
  [[nodiscard]] const void* exported(const char* symbol) const;
};

}  // namespace thinwire::inline base
