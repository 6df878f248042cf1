//! The JSON of the HTTP API, one file for each noun.
