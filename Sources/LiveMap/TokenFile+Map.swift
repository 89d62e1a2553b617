package import StateStore
package import TerminalUI

extension TokenFile {
  /// The token of the map.
  ///
  /// - Parameters:
  ///   - isNew: Whether it takes the place of the one that is kept.
  ///   - hint: What names another file.
  package func mapToken(isNew: Bool = false, hint: String = "--token-file") throws(CommandError)
    -> String
  {
    do {
      return try isNew ? renew() : open()
    } catch let problem as FileProblem {
      throw CommandError(
        "the token of the map: \(problem); \(hint) names another file",
        kind: CommandErrorKind(problem))
    } catch let problem as TokenFile.Malformed {
      throw CommandError(
        "the token of the map: \(problem); lodestone map --new-token replaces it, "
          + "\(hint) names another file",
        kind: .data)
    } catch {
      throw CommandError("the token of the map: \(error)", kind: .io)
    }
  }
}
