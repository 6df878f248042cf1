//! Reads by many keys at once. A list goes in chunks whose sizes are powers of two, filled up with a key that finds
//! nothing more, so that each read has only a few statement texts for a server to prepare.

use std::collections::HashMap;

use mainspring_model::{Epoch, JobId, RunId, RunState};
use mainspring_store::readback::RunMark;
use mainspring_store::{RecordKey, RecordKind};

use super::statement::Query;
use crate::dialect::Dialect;
use crate::rows::record;
use crate::session::{Backend, Result};
use crate::value::{Damage, Decode, Param, Row};

/// Keys in one statement.
pub(crate) const CHUNK_MAX: usize = 256;
/// Pairs in one statement.
const PAIRS_MAX: usize = 64;

/// A read for each chunk of `ids`: `select`, then `column IN (…)`.
pub(crate) fn by_id<'a>(
    select: &'a str,
    column: &'a str,
    ids: &'a [[u8; 16]],
) -> impl Iterator<Item = Query> + 'a {
    ids.chunks(CHUNK_MAX).map(move |chunk| {
        let size = chunk.len().next_power_of_two();
        let mut query = Query::new(select);
        let condition = format!("{column} IN ({})", crate::batch_text::questions(size));
        query.and(&condition, padded(chunk, size).map(Param::from));
        query
    })
}

/// A read for each chunk of `pairs`: one read for each pair, put together. One condition with all pairs joined by `OR`
/// would be looked for by its first column alone in PostgreSQL, and that is all of a namespace.
pub(crate) fn by_pair<'a>(
    select: &'a str,
    columns: (&'a str, &'a str),
    pairs: &'a [(Param, Param)],
) -> impl Iterator<Item = Query> + 'a {
    pairs.chunks(PAIRS_MAX).map(move |chunk| {
        let size = chunk.len().next_power_of_two();
        let condition = format!("{} = ? AND {} = ?", columns.0, columns.1);
        let one = |(first, second): &(Param, Param)| {
            let mut query = Query::new(select);
            query.and(&condition, [first.clone(), second.clone()]);
            query
        };
        match chunk {
            [only] => one(only),
            many => {
                let nothing = (Param::Null, Param::Null);
                Query::union((0..size).map(|at| one(many.get(at).unwrap_or(&nothing))))
            }
        }
    })
}

fn padded<T>(chunk: &[T], size: usize) -> impl Iterator<Item = &T> {
    chunk.iter().chain(std::iter::repeat_n(chunk.last(), size - chunk.len()).flatten())
}

/// All rows of all chunks; those that are damaged are left out, so that they stop no batch that meets them (I20).
pub(crate) async fn sound<B: Backend, T: Send + 'static>(
    backend: &B,
    queries: impl Iterator<Item = Query> + Send,
    decode: Decode<T>,
) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    for query in queries {
        rows.append(&mut query.sound(backend, decode).await?);
    }
    Ok(rows)
}

/// All rows of all chunks.
pub(crate) async fn all<B: Backend, T: Send + 'static>(
    backend: &B,
    queries: impl Iterator<Item = Query> + Send,
    decode: Decode<T>,
) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    for query in queries {
        rows.append(&mut query.all(backend, decode).await?);
    }
    Ok(rows)
}

/// Who wrote these runs, and as which version.
pub(crate) async fn run_marks<B: Backend>(backend: &B, ids: &[[u8; 16]]) -> Result<HashMap<RunId, RunMark>> {
    fn decode(row: &dyn Row) -> Result<(RunId, RunMark), Damage> {
        let state = u8::try_from(row.int(3)?).ok().and_then(RunState::from_number);
        let mark = RunMark {
            version: row.int(1)? as u64,
            epoch: Epoch(row.int(2)? as u64),
            state,
            rank: row.int_opt(4)?,
        };
        Ok((RunId::from_bytes(row.id(0)?), mark))
    }
    let queries = by_id("SELECT id, version, epoch, state, shelf_rank FROM runs", "id", ids);
    Ok(sound(backend, queries, decode).await?.into_iter().collect())
}

/// A (namespace, name) or (namespace, idempotency key).
pub(crate) type NameKey = (Box<[u8]>, Box<[u8]>);

const KEY_HOLDERS: &str = "SELECT id, namespace, idempotency_key FROM runs";

fn name_pairs(keys: &[(&str, &str)]) -> Vec<(Param, Param)> {
    keys.iter().map(|(namespace, key)| (Param::from(*namespace), Param::from(*key))).collect()
}

/// The runs that hold these (namespace, idempotency key).
pub(crate) async fn key_holders<B: Backend>(
    backend: &B,
    keys: &[(&str, &str)],
) -> Result<HashMap<NameKey, RunId>> {
    fn decode(row: &dyn Row) -> Result<(NameKey, RunId), Damage> {
        Ok(((row.bytes(1)?.into(), row.bytes(2)?.into()), RunId::from_bytes(row.id(0)?)))
    }
    let pairs = name_pairs(keys);
    let queries = by_pair(KEY_HOLDERS, ("namespace", "idempotency_key"), &pairs);
    Ok(sound(backend, queries, decode).await?.into_iter().collect())
}

/// The jobs that hold these (namespace, name).
pub(crate) async fn name_holders<B: Backend>(
    backend: &B,
    keys: &[(&str, &str)],
) -> Result<HashMap<NameKey, JobId>> {
    fn decode(row: &dyn Row) -> Result<(NameKey, JobId), Damage> {
        Ok(((row.bytes(1)?.into(), row.bytes(2)?.into()), JobId::from_bytes(row.id(0)?)))
    }
    let pairs = name_pairs(keys);
    let queries = by_pair("SELECT id, namespace, name FROM jobs", ("namespace", "name"), &pairs);
    Ok(sound(backend, queries, decode).await?.into_iter().collect())
}

/// A [`NameKey`].
pub(crate) fn name_key(namespace: &str, name: &str) -> NameKey {
    (namespace.as_bytes().into(), name.as_bytes().into())
}

/// The revisions of rows with an id and a revision.
pub(crate) async fn revisions<B: Backend>(
    backend: &B,
    select: &'static str,
    ids: &[[u8; 16]],
) -> Result<HashMap<[u8; 16], u64>> {
    fn decode(row: &dyn Row) -> Result<([u8; 16], u64), Damage> {
        Ok((row.id(0)?, row.int(1)? as u64))
    }
    Ok(sound(backend, by_id(select, "id", ids), decode).await?.into_iter().collect())
}

/// The revisions of these records.
pub(crate) async fn record_revisions<B: Backend>(
    backend: &B,
    keys: &[(RecordKind, &RecordKey)],
) -> Result<HashMap<(RecordKind, RecordKey), u64>> {
    fn decode(row: &dyn Row) -> Result<((RecordKind, RecordKey), u64), Damage> {
        Ok((record::decode_key(row)?, row.int(2)? as u64))
    }
    let pairs = record_pairs(keys);
    let select = "SELECT kind, record_key, revision FROM records";
    Ok(sound(backend, by_pair(select, ("kind", "record_key"), &pairs), decode).await?.into_iter().collect())
}

/// The keys of records as parameters.
pub(crate) fn record_pairs(keys: &[(RecordKind, &RecordKey)]) -> Vec<(Param, Param)> {
    keys.iter().map(|(kind, key)| record::encode_key(*kind, key).into()).collect()
}

/// A read by several pairs, for a look at the server's plan.
pub(crate) fn probes(dialect: Dialect) -> Vec<(&'static str, String)> {
    let pairs = name_pairs(&[("acme/data", "k1"), ("acme/data", "k2"), ("acme/data", "k3")]);
    let queries = by_pair(KEY_HOLDERS, ("namespace", "idempotency_key"), &pairs);
    queries.map(|query| ("holders of keys", query.with_literals(dialect))).collect()
}
