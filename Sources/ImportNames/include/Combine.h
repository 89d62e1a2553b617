// Nothing but a name: module.modulemap beside it says why.
