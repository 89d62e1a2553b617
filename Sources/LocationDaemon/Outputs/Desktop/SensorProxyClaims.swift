// Which programs have claimed the compass of desktops.

/// The programs that have claimed the compass, by their names on the bus. No program and no user can have all claims.
struct SensorProxyClaims: Sendable {
  /// Who a program is, as the bus knows it; `nil` for what it does not say.
  struct Claimant: Hashable, Sendable {
    var user: UInt32?
    var process: UInt32?
  }

  /// The number of claims of all programs, of those of one user, and of those of one process, which has a claim for each of its connections.
  static let most = (all: 64, user: 16, process: 4)

  private var claimants: [String: Claimant] = [:]

  var count: Int { claimants.count }
  var isEmpty: Bool { claimants.isEmpty }

  func has(_ program: String) -> Bool { claimants[program] != nil }

  /// Notes a claim. Returns why it is refused, or `nil` if it is not.
  mutating func claim(_ program: String, _ claimant: Claimant) -> String? {
    guard !has(program) else { return nil }
    let values = claimants.values
    if let process = claimant.process,
      values.count(where: { $0.process == process }) >= Self.most.process
    {
      return "process \(process) has \(Self.most.process) claims, as many as a process may have"
    }
    guard values.count(where: { $0.user == claimant.user }) < Self.most.user else {
      let user = claimant.user.map { "user \($0)" } ?? "users that the bus does not name"
      return "the programs of \(user) have \(Self.most.user) claims, as many as one user may have"
    }
    guard count < Self.most.all else { return "\(Self.most.all) programs have the compass" }
    claimants[program] = claimant
    return nil
  }

  /// Ends a claim. Returns whether there was one.
  mutating func release(_ program: String) -> Bool { claimants.removeValue(forKey: program) != nil }

  mutating func removeAll() { claimants = [:] }
}
