// libkasane_foreign.so: what is left beside a program when another build of it was there before.
extern "C" const char* kasane_foreign_build() { return "0.0.9 (another)"; }
extern "C" int kasane_foreign_answer() { return 42; }
