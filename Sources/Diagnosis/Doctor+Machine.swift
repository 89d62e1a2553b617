// What the doctor says about the machine: device nodes, servers and ports.

import BoardFile
import Glibc
import LinuxIO
import Lodestone
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes

extension Doctor {
  // A machine without a board file: what could be probed.
  func machine() -> [Finding] {
    var findings: [Finding] = []
    if provider.registerBuses().isEmpty {
      findings.append(
        Finding(
          .problem, "there is no I2C bus",
          mend: "dtparam=i2c_arm=on   # in /boot/firmware/config.txt, then reboot"))
    }
    findings += provider.registerBuses().map { node($0, .i2c, sensor: nil) }
    findings += provider.serialPorts().map { port($0, sensor: nil) }
    return findings
  }

  func node(_ path: String, _ kind: NodeKind, sensor: Int?) -> Finding {
    if access(path, F_OK) != 0 {
      let mend =
        !path.hasPrefix("/")
        ? "/dev/\(path)   # in the board file: a path"
        : kind == .i2c
          ? "dtparam=i2c_arm=on   # in /boot/firmware/config.txt, then reboot"
          : Self.isUART(path)
            ? "enable_uart=1   # in /boot/firmware/config.txt, then reboot"
            : "ls /dev/serial/by-id /dev/ttyACM* /dev/ttyUSB*   # is it plugged in, and under another name?"
      return Finding(.problem, "\(path) does not exist", mend: mend, sensor: sensor)
    }
    if kind == .serial, let wrong = Self.wrongKind(of: path) {
      return Finding(
        .problem, "\(path) is \(wrong), not a serial port", mend: Self.listing, sensor: sensor)
    }
    if access(path, R_OK | W_OK) != 0 {
      return Finding(
        .problem, "\(path) may not be opened by this user: permission denied",
        mend: Self.joining(kind.group), sensor: sensor)
    }
    return Finding(.good, path, sensor: sensor)
  }

  /// Whether a path is that of a UART of a Raspberry Pi, which its configuration turns on.
  private static func isUART(_ path: String) -> Bool {
    ["/dev/serial0", "/dev/serial1", "/dev/ttyS0"].contains(path)
      || path.hasPrefix("/dev/ttyAMA")
  }

  /// What there is in place of a device; `nil` for one, and for what cannot be looked at.
  private static func wrongKind(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return switch status.st_mode & S_IFMT {
    case S_IFCHR: nil
    case S_IFDIR: "a directory"
    case S_IFREG: "a regular file"
    case S_IFSOCK: "a socket"
    case S_IFIFO: "a pipe"
    default: "no character device"
    }
  }

  /// The line by which a user joins a group.
  static func joining(_ group: String) -> String {
    "sudo usermod -aG \(group) $USER   # then log in again"
  }

  /// Whether gpsd greets: asked for two seconds.
  func server(_ address: ServerAddress, _ device: String?, sensor: Int) -> Finding {
    let start = provider.now()
    do throws(BusError) {
      let receiver = GPSDReceiver(
        try provider.connection(to: address), at: address.description, device: device)
      while provider.now().seconds(since: start) < 2 {
        do {
          _ = try receiver.poll(now: provider.now())
        } catch {
          guard case .bus(let failure) = error else { break }
          throw failure
        }
        if let release = receiver.release, let hasReceiver = receiver.hasReceiver {
          let place = "gpsd \(release) at \(address)"
          return hasReceiver
            ? Finding(.good, place, sensor: sensor)
            : Finding(
              .problem, "\(place) reads no receiver\(device.map { " \($0)" } ?? "")",
              mend: "name it in /etc/default/gpsd (DEVICES=), then sudo systemctl restart gpsd",
              sensor: sensor)
        }
        usleep(20_000)
      }
    } catch {
      // It runs, and has no such receiver.
      let isRefused = device != nil && "\(error)".contains("gpsd refuses")
      return Finding(
        .problem, "\(error)",
        mend: isRefused
          ? "gpspipe -w -n 4 | grep DEVICES   # says how gpsd calls its receivers: 'device' in the board file"
          : "sudo systemctl enable --now gpsd.socket   # and its receiver in /etc/default/gpsd",
        sensor: sensor)
    }
    return Finding(
      .problem, "nobody greets at \(address)",
      mend: "systemctl status gpsd; gpsd's own port is 2947",
      sensor: sensor)
  }
}
