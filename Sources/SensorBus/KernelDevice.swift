// The kernel's interface to a chip that a kernel driver owns: the IIO ABI
// (Documentation/ABI/testing/sysfs-bus-iio) as text and bytes.

/// A chip that a driver of the kernel owns, as sysfs shows it. It has an IIO device or several (`iio:device0`).
///
/// Attributes are named from the chip's folder on (`/sys/bus/i2c/devices/1-001c/`):
/// `iio:device0/in_magn_x_raw`. Any of them may be missing or say nonsense, and all of them go when the driver
/// is unbound.
package protocol KernelDevice: AnyObject {
  /// The names in a folder, in no order; the chip's own is the empty one.
  func names(in folder: String) throws(BusError) -> [String]

  /// What an attribute says, without the newline at its end; at most a page of it.
  func read(_ attribute: String) throws(BusError) -> String

  func write(_ attribute: String, _ value: String) throws(BusError)

  /// The frames of an IIO device's buffer as the kernel packs them, for this process alone. A `read` brings
  /// whole frames.
  func buffer(of device: String) throws(BusError) -> any ByteSource

  /// Reads attributes one after the other, so many seconds from one beginning to the next or as fast as the
  /// kernel answers, where that is slower. A `read` brings the newest round as lines: the monotonic clock at the
  /// round's beginning and at its end (ns), then what each attribute said.
  ///
  /// Reading one may take the kernel a conversion: it is done elsewhere, and nothing here waits for it.
  func poll(_ attributes: [String], every seconds: Double) throws(BusError) -> any ByteSource
}

/// The longest round of polled attributes, bytes: twelve numbers.
package let longestPolledRound = 512
