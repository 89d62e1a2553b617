// What the doctor says about a serial port: who has it, or that this user cannot see it.

import FoundationEssentials
import LinuxIO
import StateStore

extension Doctor {
  /// Whether a serial port can be opened, and who else has it.
  func port(_ port: String, sensor: Int?) -> Finding {
    let access = node(port, .serial, sensor: sensor)
    guard access.level == .good else { return access }
    return Self.port(
      port, usage: PortHolder.usage(of: port), isRefused: PortHolder.isRefused(port),
      isAwaited: gpsd.map { $0.isSwitchedOn && $0.reads(port) } ?? false, sensor: sensor)
  }

  /// Judges a port that this user may open.
  ///
  /// - Parameters:
  ///   - isRefused: Whether opening it fails because a process keeps it for itself.
  ///   - isAwaited: Whether gpsd is set up to open it as soon as a program asks gpsd.
  static func port(
    _ port: String, usage: PortUsage, isRefused: Bool, isAwaited: Bool, sensor: Int?
  ) -> Finding {
    if !usage.holders.isEmpty {
      let names = PortHolder.list(usage.holders)
      return Finding(
        .problem, "\(port) is in use by \(names)", mend: ending(names, port), sensor: sensor)
    }
    if !usage.suspects.isEmpty {
      let names = PortHolder.list(usage.suspects)
      return Finding(
        .problem,
        "\(port) is \(isRefused ? "" : "probably ")in use by \(names), which was started with it",
        mend: ending(names, port), sensor: sensor)
    }
    if isRefused {
      return Finding(
        .problem,
        usage.isComplete
          ? "\(port) is in use by a process that cannot be seen"
          : "\(port) is in use by a process of another user, which this user cannot see",
        mend: "sudo lodestone doctor   # names it; so does sudo fuser -v \(port)", sensor: sensor)
    }
    if isAwaited {
      return Finding(
        .problem,
        "\(port) is gpsd's (/etc/default/gpsd), which opens it as soon as a program asks gpsd",
        mend: ending("gpsd", port), sensor: sensor)
    }
    guard usage.isComplete else {
      var finding = Finding(
        .note, "\(port): whether a process of another user reads it, this user cannot see",
        mend: "sudo lodestone doctor   # shows it; so does sudo fuser -v \(port)", sensor: sensor)
      finding.isUnseen = true
      return finding
    }
    return Finding(.good, port, sensor: sensor)
  }

  /// How a program lets a port go.
  private static func ending(_ names: String, _ port: String) -> String {
    names.contains("gpsd")
      ? "sudo systemctl disable --now gpsd.socket gpsd   # or leave it to gpsd: 'chip: gpsd' in place of "
        + "chip and port"
      : names.contains("getty")
        ? "sudo systemctl disable --now serial-getty@\(port.split(separator: "/").last ?? "")"
        : "end that program: only one can read the port"
  }
}

/// What gpsd's package was told to read.
struct GPSDSetup: Sendable, Hashable {
  /// The largest file that is read.
  private static let limit = 65_536

  /// The devices of `DEVICES=` in /etc/default/gpsd.
  var devices: [String] = []
  /// Whether systemd starts gpsd on the first connection.
  var isSwitchedOn = false

  /// Reads what the shell would read of the file.
  init(_ text: String, isSwitchedOn: Bool) {
    self.isSwitchedOn = isSwitchedOn
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.drop { $0 == " " }
      guard line.hasPrefix("DEVICES=") else { continue }
      let value = line.dropFirst("DEVICES=".count).prefix { $0 != "#" }
      devices = value.split { $0 == " " || $0 == "\"" || $0 == "'" }.map(String.init)
    }
  }

  /// That of this machine; `nil` where there is no such file.
  static func ofMachine() -> GPSDSetup? {
    let path = "/etc/default/gpsd"
    guard let bytes = try? TextFile.bytes(of: path, limit: limit, isNamed: false) else {
      return nil
    }
    let units = [
      "/etc/systemd/system/sockets.target.wants", "/etc/systemd/system/multi-user.target.wants",
    ]
    return GPSDSetup(
      String(decoding: bytes, as: UTF8.self),
      isSwitchedOn: units.contains { folder in
        ["gpsd.socket", "gpsd.service"].contains {
          FileManager.default.fileExists(atPath: "\(folder)/\($0)")
        }
      })
  }

  /// Whether one of its devices is this port, under whatever name.
  func reads(_ port: String) -> Bool {
    func real(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }
    let port = real(port)
    return devices.contains { $0.hasPrefix("/") && real($0) == port }
  }
}
