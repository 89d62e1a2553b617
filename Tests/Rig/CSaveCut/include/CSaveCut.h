// A file system that loses power: the calls that change files, counted, and cut at a chosen one.
//
// Whoever links this gets its open, write, fsync, rename, close, mkdir, unlink and flock, which do what the
// system's do until a cut is asked for.
#pragma once

/// What a cut loses.
enum cut_loss {
  /// The process alone: as by a signal that cannot be caught.
  cut_process = 0,
  /// Data that no fsync has forced to the disk; names are as they were last.
  cut_data = 1,
  /// Data and names that no fsync has forced to the disk.
  cut_data_and_names = 2,
};

/// The process ends at its `call`-th call from now, from 1, and what is not on the disk is lost. Of a write half
/// is done first. `scratch` is a folder on the same file system for what may have to come back.
void cut_arm(long call, enum cut_loss loss, const char *scratch);
/// From now on fsync says that it is done and does nothing, as a disk that lies.
void cut_lie(void);
/// Calls since `cut_arm`.
long cut_calls(void);
/// A child process with nothing but the caller's thread.
int cut_fork(void);
/// Waits for a child; its exit status, or -1.
int cut_wait(int child);
/// Ends the process without anything else.
_Noreturn void cut_exit(int status);
/// What a process says that was cut.
#define CUT_STATUS 99
