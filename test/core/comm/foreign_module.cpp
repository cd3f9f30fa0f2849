// libkasane_foreign.so: stands for a plugin that an earlier build left beside a program.
extern "C" const char* kasane_foreign_build() { return "0.0.9 (another)"; }
extern "C" int kasane_foreign_answer() { return 42; }
