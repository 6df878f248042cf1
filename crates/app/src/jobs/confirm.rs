//! Confirmation of a change: a put or a removal of a job is acknowledged when it counts, at whichever server it was made.
//!
//! The rows are written first, by this server. Then the owner of the cell is asked to read them, and the answer to the caller
//! waits for it, or for a new owner, which reads them when it takes the cell ([`Confirmation`]). A change that neither
//! confirms in time is not acknowledged: it is stored, and counts when the owner next looks.

use std::time::Duration;

use mainspring_engine::{Answer, Confirmation, news_key};
use mainspring_model::{CellId, ErrorCode, JobId, Namespace};
use tokio::time::{sleep, timeout};

use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::{CellError, Changed, Command};
use crate::principal::Caller;

/// How long whoever puts a job waits for the owner to have heard of it, where nothing depends on that.
const ANNOUNCE_WAIT: Duration = Duration::from_secs(1);
/// The owner is asked again after this, and the lease is read as often while it does not answer.
const ASK_AGAIN: Duration = Duration::from_millis(250);

impl App {
    /// Waits until what is stored of a job counts. The job is given by its id, because it may be gone, or by its name.
    pub async fn confirm_job(&self, caller: &Caller, namespace: &Namespace, job: &str) -> Result<()> {
        self.allow(caller, Operation::JobConfirm, Some(namespace)).await?;
        let id = match job.parse::<JobId>() {
            Ok(id) => id,
            Err(_) => self.find_job(namespace, job).await?.id,
        };
        // Whoever asks may have changed it elsewhere.
        self.jobs.forget_id(namespace, id);
        let name = self.store.job(id).await?.map_or_else(|| job.into(), |job| job.name);
        // The owner tells of it, if it is here.
        drop(self.cells.tell(self.cells.cell_of(namespace), self.job_changed(namespace, id, &name)).await);
        self.confirmed(namespace, id).await
    }

    /// Has watchers told that a job was written, here or by its owner elsewhere. Whoever is not reached hears of it later.
    pub(crate) async fn announce_job(&self, namespace: &Namespace, job: JobId, name: &str) {
        let told = self.cells.tell(self.cells.cell_of(namespace), self.job_changed(namespace, job, name));
        if let Ok(Err(CellError::Elsewhere { url })) = timeout(ANNOUNCE_WAIT, told).await {
            let asked = self.cells.confirm_elsewhere(&url, namespace, job);
            drop(timeout(ANNOUNCE_WAIT, asked).await);
        }
    }

    fn job_changed(&self, namespace: &Namespace, job: JobId, name: &str) -> Changed {
        Changed::Job { id: job, namespace: namespace.clone(), name: name.into(), at: self.now() }
    }

    /// Waits until what is stored of the triggers of a job counts.
    pub(crate) async fn confirmed(&self, namespace: &Namespace, job: JobId) -> Result<()> {
        let cell = self.cells.cell_of(namespace);
        let waiting = async {
            tokio::select! {
                () = self.owner_confirms(cell, namespace, job) => {}
                () = self.owner_is_new(cell) => {}
            }
        };
        timeout(self.confirm_wait, waiting).await.map_err(|_| {
            let message = "the change is stored, and the scheduler that owns the cell has not confirmed it: \
                           its triggers may go by the old version for half a minute; send it again to wait for it";
            Error::new(ErrorCode::StoreUnavailable, message)
        })
    }

    /// The same for a put that changed nothing: an earlier one may not have been confirmed.
    pub(crate) async fn confirmed_if_new(&self, namespace: &Namespace, job: JobId) -> Result<()> {
        let (kind, key) = news_key(self.cells.cell_of(namespace), job);
        match self.store.record(kind, &key).await? {
            Some(_) => self.confirmed(namespace, job).await,
            None => Ok(()),
        }
    }

    /// Asks the owner, here or elsewhere, until it says that it has the change.
    async fn owner_confirms(&self, cell: CellId, namespace: &Namespace, job: JobId) {
        loop {
            let answer = self.cells.command(cell, Command::TriggersChanged { job }, Vec::new()).await;
            let is_confirmed = match answer {
                Ok(Answer::Done) => true,
                Err(CellError::Elsewhere { url }) => {
                    self.cells.confirm_elsewhere(&url, namespace, job).await.is_ok()
                }
                Ok(_) | Err(_) => false,
            };
            if is_confirmed {
                return;
            }
            sleep(ASK_AGAIN).await;
        }
    }

    /// Looks at the lease until nobody can own the cell who loaded it before now. An owner that answers at once costs no look.
    async fn owner_is_new(&self, cell: CellId) {
        let mut confirmation = Confirmation::default();
        loop {
            sleep(ASK_AGAIN).await;
            let Ok(leases) = self.store.leases().await else { continue };
            if confirmation.lease_seen(leases.iter().find(|lease| lease.cell == cell)) {
                return;
            }
        }
    }
}
