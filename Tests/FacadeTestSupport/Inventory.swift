// What writes an inventory down: each says to the compiler what is there, with its type, and does nothing.

package import Foundation

/// A property that can be read.
package func has<Root, Value>(_: KeyPath<Root, Value>, _: Value.Type) {}

/// A property of a value that can be set.
package func sets<Root, Value>(_: WritableKeyPath<Root, Value>, _: Value.Type) {}

/// A property of an object that can be set.
package func changes<Root, Value>(_: ReferenceWritableKeyPath<Root, Value>, _: Value.Type) {}

/// Anything else that has a type: a constant, a case, a reference to a method.
package func gives<Value>(_: Value, _: Value.Type) {}

/// Whether instances are copied and archived as the SDK's are, and safe to hand on.
package func isValue<Value: NSObject & NSCopying & NSSecureCoding & Sendable>(
  _ type: Value.Type
) -> Bool {
  gives(Value.copy(with:), ((Value) -> (NSZone?) -> Any).self)
  gives(Value.encode(with:), ((Value) -> (NSCoder) -> Void).self)
  gives(Value.init(coder:), ((NSCoder) -> Value?).self)
  return Value.supportsSecureCoding
}
