//! Mechanics of the simulation that know no kinds.
