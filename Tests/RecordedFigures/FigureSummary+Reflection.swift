extension FigureSummary {
  /// Adds all that a value holds, each number and each word to a channel by its name.
  package mutating func add(_ channel: String, everythingIn value: Any) {
    switch value {
    case let number as any BinaryFloatingPoint: return add(channel, Double(number))
    case let number as any BinaryInteger: return add(channel, Double(number))
    case let isTrue as Bool: return add(channel, isTrue ? 1 : 0)
    case let text as String: return add(channel, text: text)
    case let vector as SIMD2<Double>: return add(channel, lanes: vector)
    case let vector as SIMD3<Double>: return add(channel, lanes: vector)
    case let vector as SIMD4<Double>: return add(channel, lanes: vector)
    case let vector as SIMD8<Double>: return add(channel, lanes: vector)
    default: break
    }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional where mirror.children.isEmpty: add(channel, nil)
    case .enum where mirror.children.isEmpty: add(channel, text: "\(value)")
    // What has no names in it: the channel is that of the whole.
    case .optional, .collection, .set, .tuple:
      for child in mirror.children { add(channel, everythingIn: child.value) }
    default:
      for child in mirror.children {
        add("\(channel).\(child.label ?? "")", everythingIn: child.value)
      }
    }
  }

  private mutating func add<Vector: SIMD>(_ channel: String, lanes vector: Vector)
  where Vector.Scalar == Double {
    for (index, lane) in ["x", "y", "z", "w", "4", "5", "6", "7"].prefix(vector.scalarCount)
      .enumerated()
    {
      add("\(channel).\(lane)", vector[index])
    }
  }
}
