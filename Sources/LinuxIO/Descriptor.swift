import Glibc

/// A file descriptor that is closed when its owner goes.
struct Descriptor: ~Copyable {
  let raw: Int32

  /// Takes over what a C call returned; `nil` for a failure.
  init?(_ result: Int32) {
    guard result >= 0 else { return nil }
    raw = result
  }

  deinit { close(raw) }
}

// The names below are also methods here; these say which are meant, with either C library.
func posixOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

func posixRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, buffer, count)
}

func posixWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, buffer, count)
}
