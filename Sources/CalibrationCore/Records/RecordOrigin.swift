/// The origin of a record that an import gave to a chip it was not made with. It follows the method, after ", ".
package enum RecordOrigin: String, Sendable, CaseIterable {
  /// The same chip at another place: its own distortion is right, the iron around it may differ.
  case place = "of another place"
  /// A chip of another name: neither is known to be right.
  case chip = "of another chip"
}

extension StoredRecord {
  /// The method without its origin: `ellipsoid` for `ellipsoid, of another place`.
  package var methodName: String { splitMethod.name }

  /// The text after the method's first ", "; `nil` for a record that is used where it was made.
  package var origin: String? { splitMethod.origin }

  private var splitMethod: (name: String, origin: String?) {
    guard let comma = method.firstRange(of: ", ") else { return (method, nil) }
    return (String(method[..<comma.lowerBound]), String(method[comma.upperBound...]))
  }
}
