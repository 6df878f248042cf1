//! The words of Mainspring, spelled once.
