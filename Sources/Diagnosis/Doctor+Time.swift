// What the doctor finds of the sockets that a receiver's time goes to.

import BoardFile
import Glibc
import SensorTypes

extension Doctor {
  /// Whether chrony listens at the sockets of a receiver, and this user may write to them.
  func time(_ sensor: Board.Sensor, _ index: Int) -> [Finding] {
    [(sensor.time?.messages, false), (sensor.time?.pulses, true)].compactMap { path, isPulse in
      path.map { socket($0, isPulse, sensor, index) }
    }
  }

  private func socket(
    _ path: String, _ isPulse: Bool, _ sensor: Board.Sensor, _ index: Int
  ) -> Finding {
    let what = "\(sensor.chip): the time of its \(isPulse ? "pulses" : "messages")"
    let subject = "chrony takes \(what) at \(path)"
    var status = stat()
    guard stat(path, &status) == 0 else {
      return Finding(
        .problem, "\(what) has no socket at \(path): chrony does not listen there",
        mend: Self.directive(path, isPulse: isPulse), sensor: index
      ).on(subject)
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      return Finding(
        .problem, "\(path) is no socket, and \(what) goes there",
        mend: "rm \(path)   # then \(Self.directive(path, isPulse: isPulse))", sensor: index
      ).on(subject)
    }
    guard access(path, W_OK) == 0 else {
      return Finding(
        .problem, "\(path) may not be written by this user: \(what) does not reach chrony",
        mend:
          "sudo chmod o+w \(path)   # after each start of chrony, or run lodestone serve as root",
        sensor: index
      ).on(subject)
    }
    return Finding(.good, "\(what) goes to chrony at \(path)", sensor: index).on(subject)
  }

  /// The line that lets chrony listen.
  static func directive(_ path: String, isPulse: Bool) -> String {
    (isPulse
      ? "refclock SOCK \(path) refid PPS delay 0.0001 prefer"
      : "refclock SOCK \(path) refid GNSS delay 0.2")
      + "   # in /etc/chrony/chrony.conf, then sudo systemctl restart chrony"
  }
}
