// Which key somebody meant who has written another one.

/// The known key that is nearest to one that is not known.
enum KeySuggestion {
  /// The most letters that may be wrong, missing, too many or exchanged.
  private static let mostMistakes = 2
  /// Longer words are not compared: files of strangers may hold any.
  private static let longest = 40

  /// Returns the nearest of the known keys, or `nil` if none is near.
  static func nearest(to key: String, among known: [String]) -> String? {
    guard key.utf8.count <= longest else { return nil }
    let word = Array(key.lowercased().utf8)
    var best: (key: String, distance: Int)?
    for candidate in known {
      let distance = distance(word, Array(candidate.lowercased().utf8))
      // Two wrong letters of three leave another word.
      guard distance <= mostMistakes, 2 * distance < word.count else { continue }
      if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
    }
    return best?.key
  }

  /// The number of letters to change, add, remove or exchange with their neighbor (optimal string alignment).
  private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var before: [Int] = []
    var row = Array(0...second.count)
    for i in first.indices {
      var next = [i + 1]
      for j in second.indices {
        let isSame = first[i] == second[j]
        var least = min(row[j] + (isSame ? 0 : 1), row[j + 1] + 1, next[j] + 1)
        if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
          least = min(least, before[j - 1] + 1)
        }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[second.count]
  }
}
