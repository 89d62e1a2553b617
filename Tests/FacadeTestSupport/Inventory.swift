// What writes an inventory down: each says to the compiler what is there, with its type, and does nothing.

/// A property that can be read.
public func has<Root, Value>(_: KeyPath<Root, Value>, _: Value.Type) {}

/// A property of a value that can be set.
public func sets<Root, Value>(_: WritableKeyPath<Root, Value>, _: Value.Type) {}

/// A property of an object that can be set.
public func changes<Root, Value>(_: ReferenceWritableKeyPath<Root, Value>, _: Value.Type) {}

/// Anything else that has a type: a constant, a case, a reference to a method.
public func gives<Value>(_: Value, _: Value.Type) {}
