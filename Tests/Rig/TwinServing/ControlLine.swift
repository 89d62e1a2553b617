// The control line's terminal: bytes in, answers out.

import CVhostUser
import Glibc
import SensorTypes
import SimulatedDevices

/// The control line of a rig, behind a pseudo terminal.
final class ControlLine: Station {
  let terminal: PseudoTerminal
  private var control: RigControl
  private var cutter = LineCutter()
  private var unsent: [UInt8] = []
  private var hasPeer = false

  /// How often a terminal that nobody holds is looked at, seconds.
  private static let pause = 0.02
  /// Bytes of answers that wait for a guest that does not read; it gets no more lines answered until it does.
  private static let mostUnsent = 16_384

  init(link: String?, control: RigControl) throws(RigError) {
    self.control = control
    terminal = try PseudoTerminal(link: link)
  }

  /// What is answered to `stood`, seconds.
  var stoodStill: Double {
    get { control.stoodStill }
    set { control.stoodStill = newValue }
  }

  func watch(_ watch: inout PollSet) {
    guard hasPeer else { return }
    let events = unsent.count < Self.mostUnsent ? POLLIN : 0
    watch.add(terminal.master, unsent.isEmpty ? events : events | POLLOUT)
  }

  func deadline(now: Timestamp) -> Timestamp {
    hasPeer ? .distantFuture : now.advanced(bySeconds: Self.pause)
  }

  func step(_ watch: PollSet, now: Timestamp) {
    hasPeer = terminal.hasPeer
    if unsent.count < Self.mostUnsent {
      for line in cutter.take(terminal.read(1024)) {
        if let answer = control.answer(to: line) { unsent += Array(answer.utf8) + [10] }
      }
    }
    guard hasPeer else {
      // Whoever opens it next must not read the answers to another's questions.
      unsent.removeAll()
      cutter.clear()
      return
    }
    if !unsent.isEmpty { unsent.removeFirst(terminal.write(unsent)) }
  }
}
