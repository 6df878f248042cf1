//! store-sql
