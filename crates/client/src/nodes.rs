//! Nodes and pools: look, drain, resume, label, invite.

use std::time::Duration;

use mainspring_model::{Labels, NodeId, duration_text};
use mainspring_wire::api::{DrainRequest, JoinToken, JoinTokenRequest, Node, NodeLabels, Page, Pool};

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::pages::Pages;

impl Client {
    /// Nodes, of one pool or in one state if asked.
    pub fn nodes(&self, pool: Option<&str>, state: Option<&str>) -> Pages<Node> {
        Pages::new(self, Call::get(&["v1", "nodes"]).maybe("pool", pool).maybe("state", state))
    }

    /// A node.
    pub async fn node(&self, node: NodeId) -> Result<Node, Error> {
        self.ask(Call::get(&["v1", "nodes", &node.to_string()])).await
    }

    /// Gives a node no more work; what still runs when `patience` is over is stopped and moved.
    pub async fn drain_node(&self, node: NodeId, patience: Option<Duration>) -> Result<Node, Error> {
        let request = DrainRequest { patience: patience.map(duration_text::format) };
        self.ask(Call::post_repeatable(&["v1", "nodes", &node.to_string(), "drain"]).json(&request)?).await
    }

    /// Gives up a silent node before its lease is over, because it is known to be gone: its runs go elsewhere now.
    pub async fn lose_node(&self, node: NodeId) -> Result<Node, Error> {
        self.ask(Call::post_repeatable(&["v1", "nodes", &node.to_string(), "lose"])).await
    }

    /// Takes a node's credential: it is not let in again, and its id may join anew. One that is lost or has left is listed no
    /// more.
    pub async fn remove_node(&self, node: NodeId) -> Result<(), Error> {
        self.tell(Call::delete(&["v1", "nodes", &node.to_string()])).await
    }

    /// Gives a drained node work again.
    pub async fn resume_node(&self, node: NodeId) -> Result<Node, Error> {
        self.ask(Call::post_repeatable(&["v1", "nodes", &node.to_string(), "resume"])).await
    }

    /// Lays labels over those that a node gives itself; those given before and not named here go.
    pub async fn label_node(&self, node: NodeId, labels: Labels) -> Result<Node, Error> {
        self.ask(Call::put(&["v1", "nodes", &node.to_string(), "labels"]).json(&NodeLabels { labels })?).await
    }

    /// Pools with their nodes added up.
    pub async fn pools(&self) -> Result<Vec<Pool>, Error> {
        let page: Page<Pool> = self.ask(Call::get(&["v1", "pools"])).await?;
        Ok(page.items)
    }

    /// A token with which one node joins once.
    pub async fn create_join_token(&self, request: &JoinTokenRequest) -> Result<JoinToken, Error> {
        self.ask(Call::post(&["v1", "join-tokens"]).json(request)?).await
    }
}
