// A target has to have a source. What it is for stands in include/module.modulemap.
