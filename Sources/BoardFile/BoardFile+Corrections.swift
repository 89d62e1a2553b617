// The `corrections:` of a receiver in a board file.

import SensorBus
import SensorDrivers
import SensorTypes

extension BoardFile {
  /// What no mountpoint of a caster has in its name, for it would be another thing in an address.
  private static let reserved = Set("\"#%/;<>?@\\^`{|}")

  static func corrections(
    _ map: YAMLMapping, of chip: ChipDescription
  ) throws(BoardFileError) -> CorrectionSource? {
    let key = "corrections"
    guard let node = map.node(key) else { return nil }
    guard ["u-blox", "GNSS", "NMEA"].contains(chip.name) else {
      throw map.error(key, "'\(key)' goes with a receiver that takes RTCM: u-blox, GNSS or NMEA")
    }
    guard !map.has("host") else {
      throw map.error(
        key,
        "over the network a receiver is only read, and takes no corrections: '\(key)' goes with 'port' or 'bus'"
      )
    }
    guard case .scalar = node.value else {
      guard
        let entry = try map.mapping(
          key, context: "an entry of corrections",
          known: ["caster", "mountpoint", "credentials", "sendsPosition"])
      else { return nil }
      return try source(entry)
    }
    var source = try Self.source(try map.requiredString(key), key, map)
    guard !source.mountpoint.isEmpty else {
      throw map.error(key, "'\(key)' needs a mountpoint: ntrip://\(source.caster)/MOUNTPOINT")
    }
    source.sendsPosition = true
    return source
  }

  private static func source(_ entry: YAMLMapping) throws(BoardFileError) -> CorrectionSource {
    let address = try entry.requiredString("caster")
    var source = try Self.source(
      address.contains("://") ? address : "ntrip://" + address, "caster", entry)
    if let mountpoint = try entry.string("mountpoint") {
      guard source.mountpoint.isEmpty else {
        throw entry.error("mountpoint", "the mountpoint stands in 'caster' already")
      }
      try check(mountpoint, "mountpoint", entry)
      source.mountpoint = mountpoint
    }
    guard !source.mountpoint.isEmpty else {
      throw entry.error(
        "caster",
        "the corrections need 'mountpoint': lodestone gnss --ntrip-sources "
          + "\(source.caster) shows those that there are")
    }
    if let path = try entry.string("credentials") {
      guard path.hasPrefix("/"), path.utf8.count < 4_096 else {
        // Who writes the password itself here is not told it back.
        throw entry.error(
          "credentials",
          "'credentials' is the absolute path of a file of mode 0600 that holds USER:PASSWORD")
      }
      source.credentials = path
    }
    source.sendsPosition = try entry.boolean("sendsPosition") ?? true
    return source
  }

  /// Reads `ntrip://HOST[:PORT][/MOUNTPOINT]`, or `ntrips://`.
  private static func source(
    _ text: String, _ key: String, _ map: YAMLMapping
  ) throws(BoardFileError) -> CorrectionSource {
    let schemes = ["ntrip://", "ntrips://"]
    let scheme = schemes.first { text.hasPrefix($0) }
    let rest = text.dropFirst(scheme?.count ?? 0)
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    // Before anything of it is repeated.
    guard parts.first?.contains("@") != true, scheme != nil || !text.contains("@") else {
      throw map.error(
        key, "no user name and password in an address: 'credentials' names a file that holds them")
    }
    if scheme == nil, let meant = schemes.first(where: { text.lowercased().hasPrefix($0) }) {
      throw map.error(key, "write \(meant) in small letters")
    }
    guard let scheme else {
      throw map.error(key, "'\(key)' is an address such as ntrip://caster.example:2101/MOUNTPOINT")
    }
    let isEncrypted = scheme == "ntrips://"
    guard
      case .tcp(let host, let port)? = parts.first.flatMap({
        ServerAddress(
          host: String($0),
          defaultPort: isEncrypted ? CorrectionSource.encryptedPort : CorrectionSource.usualPort)
      }), host.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
    else {
      let problem = parts.first.flatMap { portProblem(String($0)) }.map { ": \($0)" } ?? ""
      throw map.error(
        key,
        "'\(key)' names no caster\(problem); it is ntrip://caster.example:2101/MOUNTPOINT or ntrip://[::1]/MOUNTPOINT"
      )
    }
    let mountpoint = parts.count > 1 ? String(parts[1]) : ""
    if !mountpoint.isEmpty { try check(mountpoint, key, map) }
    return CorrectionSource(
      host: host, port: port, isEncrypted: isEncrypted, mountpoint: mountpoint)
  }

  private static func check(
    _ mountpoint: String, _ key: String, _ map: YAMLMapping
  ) throws(BoardFileError) {
    guard mountpoint.utf8.count <= 100, mountpoint.utf8.allSatisfy({ $0 > 32 && $0 < 127 }),
      !mountpoint.contains(where: reserved.contains)
    else {
      throw map.error(
        key,
        "a mountpoint has up to 100 ASCII characters, and no blank or any of "
          + reserved.sorted().map(String.init).joined(separator: " "))
    }
  }
}
