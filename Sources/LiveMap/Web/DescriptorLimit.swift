import Glibc

/// The limit on the number of files that this process may have open.
enum DescriptorLimit {
  /// The number of descriptors that are kept for sensors, saves and everything else.
  static let reserve = 128
  /// The limit that is asked for: enough for every connection and the reserve.
  private static let wanted: rlim_t = 1_024

  /// Raises the limit if it is low and may be raised.
  ///
  /// - Returns: The number of connections that leave the reserve untouched, at most `wanted`. It is at least 8, because with
  ///   fewer there would be no page.
  static func connections(of wanted: Int) -> Int {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return wanted }
    if limit.rlim_cur < Self.wanted, limit.rlim_cur < limit.rlim_max {
      limit.rlim_cur = min(Self.wanted, limit.rlim_max)
      setrlimit(resource, &limit)
      getrlimit(resource, &limit)
    }
    return connections(of: wanted, limit: Int(clamping: limit.rlim_cur))
  }

  static func connections(of wanted: Int, limit: Int) -> Int {
    max(min(wanted, limit - reserve), 8)
  }
}
