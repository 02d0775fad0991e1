//! Where programs run: a simulated world in virtual time
