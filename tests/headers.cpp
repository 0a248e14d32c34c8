// Nothing but the headers that are precompiled for the tests: see CMakeLists.txt.
