import SensorDrivers
import SensorTypes

/// The life cycle of a chip as its scheduler sees it.
///
/// A chip that fails after it was identified may still be converting. Its last driver is kept to put it to sleep.
enum SensorLife {
  /// The number of attempts to put a chip to sleep.
  private static let sleepAttempts = 20

  /// Not started and not identified yet.
  case unknown
  /// Being started. A start is completed even if nobody wants the chip any more.
  case starting(any AnySensor)
  /// Converting and being read.
  case measuring(any AnySensor)
  /// Converting, and to be started again at another rate or with another range.
  case restarting(any AnySensor)
  /// To be put to sleep, with the number of attempts left.
  case dozing(any AnySensor, attempts: Int)
  case asleep(any AnySensor)
  /// Failed, and not converting as far as is known.
  case failed
  /// Failed while possibly converting, with the number of attempts left to put it to sleep.
  case failedAwake(any AnySensor, attempts: Int)

  /// The driver in charge of the chip, or `nil` if there is none.
  var driver: (any AnySensor)? {
    switch self {
    case .starting(let driver), .measuring(let driver), .restarting(let driver),
      .dozing(let driver, _), .asleep(let driver):
      driver
    case .unknown, .failed, .failedAwake: nil
    }
  }

  /// Whether the chip is stepped even if nobody wants it: to be identified once, or to complete a start.
  var isDue: Bool {
    switch self {
    case .unknown, .starting: true
    case .measuring, .restarting, .dozing, .asleep, .failed, .failedAwake: false
    }
  }

  var isMeasuring: Bool { if case .measuring = self { true } else { false } }
  var isStarting: Bool { if case .starting = self { true } else { false } }

  /// The driver of a chip that may be converting, or `nil`.
  var awake: (any AnySensor)? {
    switch self {
    case .starting(let driver), .measuring(let driver), .restarting(let driver),
      .dozing(let driver, _), .failedAwake(let driver, _):
      driver
    case .unknown, .asleep, .failed: nil
    }
  }

  mutating func fail() {
    switch self {
    case .starting(let driver), .measuring(let driver), .restarting(let driver):
      self = .failedAwake(driver, attempts: Self.sleepAttempts)
    case .dozing(let driver, let attempts): self = .failedAwake(driver, attempts: attempts)
    case .unknown, .asleep, .failed: self = .failed
    case .failedAwake: break
    }
  }

  /// Makes one attempt to put the chip to sleep. A chip that does not hear it goes on drawing current, so the attempt is
  /// repeated; a chip that stays silent has lost its supply.
  ///
  /// - Returns: Whether another attempt is needed.
  mutating func rest() -> Bool {
    switch self {
    case .starting(let driver), .measuring(let driver), .restarting(let driver):
      self = .dozing(driver, attempts: Self.sleepAttempts)
      return rest()
    case .dozing(let driver, let attempts):
      let left = Self.attempts(after: attempts, of: driver)
      self = left > 0 ? .dozing(driver, attempts: left) : .asleep(driver)
      return left > 0
    case .failedAwake(let driver, let attempts):
      let left = Self.attempts(after: attempts, of: driver)
      self = left > 0 ? .failedAwake(driver, attempts: left) : .failed
      return left > 0
    case .unknown, .asleep, .failed: return false
    }
  }

  /// Makes one attempt and returns the number of attempts left, 0 after a success.
  private static func attempts(after attempts: Int, of driver: any AnySensor) -> Int {
    do {
      try driver.sleep()
      return 0
    } catch {
      return attempts - 1
    }
  }
}

/// Counts samples beyond a chip's measuring range, to tell a range that is too small from a single blow.
struct OverflowCount {
  /// After `limit` separate overflows the range is too small. An overflow within `blow` seconds of the one before belongs to
  /// the same blow; after `memory` seconds, or ten periods, counting starts again.
  private static let (limit, blow, memory) = (3, 0.05, 1.0)

  private var count = 0
  private var newest: Timestamp?

  /// Counts one overflow. Returns whether the range is too small.
  mutating func isTooMany(at now: Timestamp, outputRate: Double) -> Bool {
    if let newest {
      let pause = now.seconds(since: newest)
      guard pause > Self.blow else { return false }
      if pause > max(Self.memory, 10 / outputRate) { count = 0 }
    }
    newest = now
    count += 1
    return count >= Self.limit
  }

  /// Starts counting again, after the range was increased.
  mutating func reset() { count = 0 }
}
