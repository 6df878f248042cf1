//! Generated from `proto/mainspring/agent/v1/agent.proto`.
#![allow(missing_docs, clippy::all)]

tonic::include_proto!("mainspring.agent.v1");
