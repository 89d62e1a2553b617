// A target has to have a source.
#include "Combine.h"
