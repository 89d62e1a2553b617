// The maths of the platform: whoever imports this module has `sin`, `atan2` and the others.

#if canImport(Glibc)
  @_exported public import Glibc
#else
  @_exported public import Musl
#endif
