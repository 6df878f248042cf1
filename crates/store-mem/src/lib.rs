//! store-mem
