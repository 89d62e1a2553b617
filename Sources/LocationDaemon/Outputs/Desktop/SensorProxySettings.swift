// The compass of desktops in serve.yaml.

import BoardFile
import LocationServices

extension OutputSettings {
  /// Reads `{protocol: sensorproxy}`, which has nothing to choose.
  static func parse(sensorProxy entry: YAMLMapping) throws(BoardFileError) -> OutputSettings {
    for key in ["transport", "address", "port", "sentences", "talker", "outsideAir"]
    where entry.has(key) {
      throw entry.error(key, "sensorproxy is asked over D-Bus, and has no '\(key)'")
    }
    if let positions = try ServeFile.positions(entry), positions != .none {
      throw entry.error("positions", "sensorproxy tells no positions")
    }
    return OutputSettings(
      kind: .sensorProxy, transport: .tcp, address: "", port: 0, positions: .none,
      line: entry.line(of: "protocol"))
  }
}
