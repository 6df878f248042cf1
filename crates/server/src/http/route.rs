//! A route: method, path, operation, handler and what the schema says about it, in one row of a table.
//!
//! Invariant: no route without an operation of the permission table.

use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use mainspring_app::{Operation, audit};
use mainspring_wire::api::Page;
use serde_json::{Value, json};
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::edge::Edge;

/// A route.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// What it is.
    pub(crate) operation: Operation,
    /// What it may also be, by what the request says.
    pub(crate) or: &'static [Operation],
    handler: MethodRouter<Arc<Edge>>,
    /// What to write into the schema when somebody reads it. Until then it takes no room: schemas are large.
    notes: Vec<Note>,
}

type Note = Box<dyn Fn(&mut Doc)>;

/// What the schema says about a route.
#[derive(Default)]
pub(crate) struct Doc {
    pub(crate) parameters: Vec<Value>,
    pub(crate) body: Option<Value>,
    pub(crate) answers: Vec<(u16, Value)>,
    pub(crate) schemas: Vec<(String, RefOr<Schema>)>,
}

impl Route {
    /// A route that reads.
    pub(crate) fn get<H, T>(path: &'static str, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, Arc<Edge>>,
        T: 'static,
    {
        Self::new(Method::GET, MethodFilter::GET, path, operation, handler)
    }

    /// A route that makes or does something.
    pub(crate) fn post<H, T>(path: &'static str, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, Arc<Edge>>,
        T: 'static,
    {
        Self::new(Method::POST, MethodFilter::POST, path, operation, handler)
    }

    /// A route that makes or replaces something.
    pub(crate) fn put<H, T>(path: &'static str, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, Arc<Edge>>,
        T: 'static,
    {
        Self::new(Method::PUT, MethodFilter::PUT, path, operation, handler)
    }

    /// A route that removes something.
    pub(crate) fn delete<H, T>(path: &'static str, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, Arc<Edge>>,
        T: 'static,
    {
        Self::new(Method::DELETE, MethodFilter::DELETE, path, operation, handler)
    }

    fn new<H, T>(
        method: Method,
        filter: MethodFilter,
        path: &'static str,
        operation: Operation,
        handler: H,
    ) -> Self
    where
        H: Handler<T, Arc<Edge>>,
        T: 'static,
    {
        let handler = on(filter, Marked { operation, handler });
        Self { method, path, operation, or: &[], handler, notes: Vec::new() }
    }

    /// What else it may be.
    pub(crate) fn or(mut self, operations: &'static [Operation]) -> Self {
        self.or = operations;
        self
    }

    /// What its query may say.
    pub(crate) fn query<Q: IntoParams>(self) -> Self {
        self.note(|doc| {
            let parameters = Q::into_params(|| Some(ParameterIn::Query));
            let parameters = parameters.iter().map(|one| serde_json::to_value(one).unwrap_or_default());
            doc.parameters.extend(parameters);
        })
    }

    /// A header that it reads.
    pub(crate) fn header(self, name: &'static str, description: &'static str) -> Self {
        self.note(move |doc| {
            let schema = json!({"type": "string"});
            let parameter = json!({"name": name, "in": "header", "required": false, "description": description, "schema": schema});
            doc.parameters.push(parameter);
        })
    }

    /// The headers of what has a revision.
    pub(crate) fn conditional(self) -> Self {
        self.header("If-Match", "Only if it has this tag, such as `\"7\"`; `*` if it exists.")
    }

    /// The key under which a repeated request is the same.
    pub(crate) fn idempotent(self) -> Self {
        self.header("Idempotency-Key", "The same key is the same run.")
    }

    /// Its body.
    pub(crate) fn body<B: ToSchema>(self) -> Self {
        self.note(|doc| doc.body::<B>(true))
    }

    /// Its body, which may be left out.
    pub(crate) fn optional_body<B: ToSchema>(self) -> Self {
        self.note(|doc| doc.body::<B>(false))
    }

    /// What it answers.
    pub(crate) fn answers<A: ToSchema>(self, status: u16, description: &'static str) -> Self {
        self.note(move |doc| {
            let schema = doc.knows::<A>();
            let content = json!({"application/json": {"schema": schema}});
            doc.answers.push((status, json!({"description": description, "content": content})));
        })
    }

    /// A page of these.
    pub(crate) fn answers_page<T: ToSchema>(self, description: &'static str) -> Self {
        self.note(move |doc| {
            doc.knows::<T>();
            let name = format!("{}Page", T::name());
            let schema = json!({"$ref": format!("#/components/schemas/{name}")});
            doc.schemas.push((name, <Page<T> as PartialSchema>::schema()));
            let content = json!({"application/json": {"schema": schema}});
            doc.answers.push((200, json!({"description": description, "content": content})));
        })
    }

    /// What it answers in another language than JSON, or with nothing.
    pub(crate) fn answers_raw(
        self,
        status: u16,
        description: &'static str,
        kind: Option<&'static str>,
    ) -> Self {
        self.note(move |doc| {
            let kinds = kind.map(|kind| (kind, json!({"type": "string"})));
            doc.answers_as(status, description, kinds.as_slice());
        })
    }

    /// What else the schema says.
    pub(crate) fn note(mut self, write: impl Fn(&mut Doc) + 'static) -> Self {
        self.notes.push(Box::new(write));
        self
    }

    /// What the schema says about it.
    pub(crate) fn doc(&self) -> Doc {
        let mut doc = Doc::default();
        self.notes.iter().for_each(|write| write(&mut doc));
        doc
    }

    pub(crate) fn into_handler(self) -> (&'static str, MethodRouter<Arc<Edge>>) {
        (self.path, self.handler)
    }
}

impl Doc {
    /// The schema of a type by reference; the type joins the components.
    pub(crate) fn knows<S: ToSchema>(&mut self) -> Value {
        S::schemas(&mut self.schemas);
        let name = S::name();
        self.schemas.push((name.to_string(), <S as PartialSchema>::schema()));
        json!({"$ref": format!("#/components/schemas/{name}")})
    }

    /// What is answered in each of these media types; with nothing when there are none.
    pub(crate) fn answers_as(&mut self, status: u16, description: &str, kinds: &[(&str, Value)]) {
        let mut answer = json!({"description": description});
        for (kind, schema) in kinds {
            answer["content"][*kind] = json!({"schema": schema});
        }
        self.answers.push((status, answer));
    }

    fn body<B: ToSchema>(&mut self, required: bool) {
        let schema = self.knows::<B>();
        self.raw_body(&["application/json"], &schema, required);
    }

    /// A body of these media types.
    pub(crate) fn raw_body(&mut self, kinds: &[&str], schema: &Value, required: bool) {
        let content: serde_json::Map<String, Value> =
            kinds.iter().map(|kind| ((*kind).to_owned(), json!({"schema": schema}))).collect();
        self.body = Some(json!({"required": required, "content": content}));
    }
}

/// A handler whose requests say what they are, for the audit of those that fail. A layer would do the same, for three more
/// allocations with each request.
#[derive(Clone)]
struct Marked<H> {
    operation: Operation,
    handler: H,
}

impl<H, T, S> Handler<T, S> for Marked<H>
where
    H: Handler<T, S>,
{
    type Future = H::Future;

    fn call(self, request: Request, state: S) -> Self::Future {
        audit::asks_for(self.operation);
        self.handler.call(request, state)
    }
}
