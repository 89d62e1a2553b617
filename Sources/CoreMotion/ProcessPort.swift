// Where the services of this program are.

import LocationServices
import Lodestone

/// The port of the process.
var processPort: any ServicePort { LodestoneRuntime.shared }
