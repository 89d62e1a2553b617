package import StateStore
import TerminalUI

extension TokenFile {
  /// The token of the map.
  ///
  /// - Parameter isNew: Whether it takes the place of the one that is kept.
  package func mapToken(isNew: Bool) throws -> String {
    do {
      return try isNew ? renew() : open()
    } catch let problem as FileProblem {
      throw CommandError(
        "the token of the map: \(problem); --token-file names another file",
        kind: CommandErrorKind(problem))
    } catch let problem as TokenFile.Malformed {
      throw CommandError(
        "the token of the map: \(problem); --new-token replaces it, "
          + "--token-file names another file",
        kind: .data)
    }
  }
}
