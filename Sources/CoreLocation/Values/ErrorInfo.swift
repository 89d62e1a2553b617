// What the errors of this module, and of MapKit, keep beside their code.

import Foundation

/// What an error was made with.
package struct ErrorInfo: Hashable, @unchecked Sendable {
  // Sendable because the dictionary is a copy that nobody changes; unchecked because it holds whatever the caller put in. It is
  // an NSDictionary because that one can be compared.
  private let dictionary: NSDictionary

  package init(_ userInfo: [String: Any]) { dictionary = NSDictionary(dictionary: userInfo) }

  package var userInfo: [String: Any] {
    var all: [String: Any] = [:]
    for (key, value) in dictionary { if let key = key as? String { all[key] = value } }
    return all
  }

  /// The description for a person; `nil` where it was made without one.
  package var description: String? { dictionary[NSLocalizedDescriptionKey] as? String }

  /// All of it, with a description for a person in every case.
  package func described(as name: String) -> [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: name]) { own, _ in own }
  }

  /// Whether an error has this code in this domain, be it one of this module or an `NSError`.
  package static func isError(_ error: any Error, _ code: Int, in domain: String) -> Bool {
    let error = error as NSError
    return error.domain == domain && error.code == code
  }
}
