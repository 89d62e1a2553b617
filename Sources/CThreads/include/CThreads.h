// What the system's C library keeps from Swift: the name of a thread.
#pragma once

/// Gives the calling thread a name; the kernel keeps its first 15 bytes.
void lodestone_name_thread(const char *name);
