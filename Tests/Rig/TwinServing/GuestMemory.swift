// The guest's memory as its kernel handed it over: nothing outside of it is ever touched.

import Glibc

/// The regions of a guest's memory, mapped as long as this lives.
final class GuestMemory {
  /// One region as the peer describes it (vhost-user, "Memory region description").
  struct Region {
    /// Where the guest sees it.
    var guest: UInt64
    /// Bytes.
    var size: UInt64
    /// Where the peer's own process sees it: the addresses of the rings.
    var user: UInt64
    /// Where it begins in the file that came with it.
    var offset: UInt64
  }

  /// A region that cannot be mapped.
  struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  private struct Window {
    var region: Region
    var start: UnsafeMutableRawPointer
  }

  private var windows: [Window] = []
  private var mappings: [UnsafeMutableRawBufferPointer] = []
  /// Beyond what a rig gives its guest; a bound for arithmetic that must not overflow.
  private static let largest: UInt64 = 1 << 40

  /// Maps the regions of a table from the files that came with it; the files stay the caller's.
  init(_ regions: [Region], files: [Int32]) throws(Refused) {
    guard regions.count == files.count else {
      throw Refused(description: "\(regions.count) memory regions with \(files.count) files")
    }
    for (region, file) in zip(regions, files) {
      guard region.size > 0, region.size <= Self.largest, region.offset <= Self.largest,
        !region.guest.addingReportingOverflow(region.size).overflow,
        !region.user.addingReportingOverflow(region.size).overflow
      else { throw Refused(description: "a memory region of \(region.size) bytes out of bounds") }
      let length = Int(region.size + region.offset)
      // A touch beyond the end of the file would end this process by a signal.
      var status = stat()
      guard fstat(file, &status) == 0, Int64(status.st_size) >= Int64(length) else {
        throw Refused(description: "a memory region goes beyond its file")
      }
      guard let base = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
        base != MAP_FAILED
      else { throw Refused(description: "a memory region cannot be mapped: errno \(errno)") }
      mappings.append(UnsafeMutableRawBufferPointer(start: base, count: length))
      windows.append(Window(region: region, start: base + Int(region.offset)))
    }
  }

  /// Memory that somebody else keeps for longer than this lives.
  init(_ bytes: UnsafeMutableRawBufferPointer, guest: UInt64, user: UInt64) {
    guard let start = bytes.baseAddress else { return }
    let region = Region(guest: guest, size: UInt64(bytes.count), user: user, offset: 0)
    windows = [Window(region: region, start: start)]
  }

  deinit { for mapping in mappings { munmap(mapping.baseAddress, mapping.count) } }

  /// The bytes at an address of the guest, or `nil` unless all of them lie in one region.
  func bytes(guest address: UInt64, count: Int) -> UnsafeMutableRawBufferPointer? {
    bytes(count) { $0.guest <= address ? address - $0.guest : nil }
  }

  /// The same at an address of the peer's process.
  func bytes(user address: UInt64, count: Int) -> UnsafeMutableRawBufferPointer? {
    bytes(count) { $0.user <= address ? address - $0.user : nil }
  }

  private func bytes(
    _ count: Int, _ offset: (Region) -> UInt64?
  ) -> UnsafeMutableRawBufferPointer? {
    guard count >= 0 else { return nil }
    for window in windows {
      guard let offset = offset(window.region), offset <= window.region.size,
        UInt64(count) <= window.region.size - offset
      else { continue }
      return UnsafeMutableRawBufferPointer(start: window.start + Int(offset), count: count)
    }
    return nil
  }
}
