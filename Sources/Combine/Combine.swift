// `import Combine` in code that was written for a phone: `ObservableObject`, `@Published`, subjects, publishers.
//
// Apple's is not open. OpenCombine is the same interface, with the same names. What it has for Foundation and Dispatch is
// there or not by whether a module named Combine was built before (`canImport`), so that it came and went with this one;
// queues, loops, notifications and timers are done here instead.

@_exported public import OpenCombine
