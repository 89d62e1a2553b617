package import FoundationEssentials
package import Geomagnetism
import StateStore

/// A magnetic model newer than the built-in one, from a coefficient file (`WMM.COF`) in the configuration
/// folder: how a board keeps true north after 2030 without a new version of this library.
package struct MagneticModelFile: Sendable {
  package let model: MagneticModel
  package let text: String
  package let file: URL

  /// The maximum length of a coefficient file, in bytes. WMM.COF has about 5,000.
  private static let limit = 65_536

  /// Where configuration lies: `$CONFIGURATION_DIRECTORY` (systemd), else `$XDG_CONFIG_HOME/lodestone` or
  /// `~/.config/lodestone`; and `/etc/lodestone`.
  package static func folders(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> [URL] {
    let system = URL(filePath: "/etc/lodestone")
    if let given = environment["CONFIGURATION_DIRECTORY"]?.split(separator: ":").first {
      return [URL(filePath: String(given)), system]
    }
    let home = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
    let user = home ?? StateDirectory.home(environment).appending(path: ".config")
    return [user.appending(path: "lodestone"), system]
  }

  /// The newest of the files called `….COF` in `folders` that supersedes the built-in model, and what is
  /// wrong with those that cannot be read.
  package static func newest(
    in folders: [URL] = folders()
  ) -> (file: MagneticModelFile?, problems: [String]) {
    var newest: MagneticModelFile?
    var problems: [String] = []
    for folder in folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      for name in names.sorted() where name.uppercased().hasSuffix(".COF") {
        let file = folder.appending(path: name)
        do {
          let text = try TextFile.read(file.path, limit: limit, isNamed: false)
          let model = try MagneticModel(coefficientFile: text)
          guard model.supersedes(newest?.model ?? .wmm2025) else { continue }
          newest = MagneticModelFile(model: model, text: text, file: file)
        } catch let problem as FileProblem {
          problems.append("the magnetic model is not used: \(problem)")
        } catch {
          problems.append("\(file.path) is not used: \(error)")
        }
      }
    }
    return (newest, problems)
  }
}
