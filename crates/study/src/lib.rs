//! Study file -> cells -> runs -> records -> statistics
