// Nothing but a name, so that code for iOS keeps its `import Combine`. What it means comes with `import CoreLocation` and
// `import CoreMotion`: they re-export FoundationCombine, as Foundation itself does with Combine on Apple's systems.
//
// The name belongs to a C module because such a one is seen by those alone who depend on it. A Swift module called Combine is
// seen by every package in the build folder, from the second build on: whatever asks `canImport(Combine)`, and much does, is
// then compiled against it and breaks.
