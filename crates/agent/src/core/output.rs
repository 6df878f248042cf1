//! What a node wants said and done. Shells carry these out in order.

use std::time::Duration;

use mainspring_model::{AttemptToken, Timestamp};
use mainspring_wire::agent::{LogHave, Malformed, NodeWord};

use super::Order;

/// Something to be done.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most outputs are words")]
pub enum Output {
    /// To the owner, on the open stream.
    Say(NodeWord),
    /// Fetch and render what an attempt needs; answer with `Prepared`.
    Prepare(Box<Order>),
    /// Give up preparing this attempt and drop what was made for it.
    Abandon(AttemptToken),
    /// Tell the sidecar to start what was prepared. Executing beyond `deadline` is forbidden; none is for jobs that say so.
    Launch {
        /// Which attempt.
        token: AttemptToken,
        /// When its lease ends.
        deadline: Option<Timestamp>,
    },
    /// Tell the sidecar to end a task: TERM, and KILL after `grace`.
    Stop {
        /// Which attempt.
        token: AttemptToken,
        /// How long it may take.
        grace: Duration,
    },
    /// Tell the sidecar that leases reach further.
    Extend {
        /// When they end now.
        deadline: Timestamp,
    },
    /// Ask the sidecar whether it is there; answer with `Answered`.
    Probe,
    /// End the sidecar, which does not answer, and start another. Its tasks go on.
    ReplaceSidecar,
    /// Copy the outputs of an attempt away; answer with `Published`.
    Publish(AttemptToken),
    /// An attempt's end is durable with the owner: nothing of it is needed but its log.
    Forgotten(AttemptToken),
    /// The owner says how much of a log it has.
    LogHave(LogHave),
    /// The owner is there and knows this node: whatever is told by repetition may be told now.
    Welcomed,
    /// Close the stream and open another, to this address if there is one.
    Reconnect {
        /// Where the owner of the node's cell is.
        to: Option<String>,
    },
    /// The node holds nothing, has said so, and may end.
    Farewell,
    /// The other end sent nonsense.
    Malformed(Malformed),
}
