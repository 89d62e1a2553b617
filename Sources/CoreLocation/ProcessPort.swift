// Where the services of this program are.

package import LocationServices
import Lodestone

/// The port of the process.
package var processPort: any ServicePort { LodestoneRuntime.shared }
