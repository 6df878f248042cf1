//! The server's certificate: read from two PEM files, and read again when they change.
//!
//! New connections have the new certificate; open ones keep theirs. Files that cannot be used leave the certificate as it
//! was, and the log says so once for each change.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Where the certificate is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and those between it and the authority, in PEM.
    pub cert: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
}

/// A certificate that follows its files.
#[derive(Debug)]
pub(super) struct Certificate {
    files: TlsFiles,
    provider: CryptoProvider,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Reads the files. The error names the file.
    pub(super) fn open(files: TlsFiles) -> Result<Arc<Self>, String> {
        let provider = aws_lc_rs::default_provider();
        let current = RwLock::new(read(&files, &provider)?);
        Ok(Arc::new(Self { files, provider, current }))
    }

    /// What accepts TLS connections with it, for HTTP/2 and HTTP/1.1.
    pub(super) fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, String> {
        let config = ServerConfig::builder_with_provider(Arc::new(self.provider.clone()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::clone(self) as _);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Follows the files until `stop`.
    pub(super) async fn follow(self: Arc<Self>, stop: CancellationToken) {
        let mut seen = self.stamps();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            let now = self.stamps();
            if now != seen {
                self.reload();
                seen = now;
            }
        }
    }

    fn reload(&self) {
        match read(&self.files, &self.provider) {
            Ok(certificate) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = certificate;
                info!(file = %self.files.cert.display(), "the certificate was read again");
            }
            Err(error) => warn!(%error, "the new certificate cannot be used; the one before stays"),
        }
    }

    /// What changes when a file does.
    fn stamps(&self) -> [Option<(i64, i64, u64, u64)>; 2] {
        let stamp = |path: &Path| {
            let file = fs::metadata(path).ok()?;
            Some((file.mtime(), file.mtime_nsec(), file.size(), file.ino()))
        };
        [stamp(&self.files.cert), stamp(&self.files.key)]
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn read(TlsFiles { cert, key }: &TlsFiles, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, String> {
    let wrong = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let bytes = |path: &Path| fs::read(path).map_err(|error| wrong(path, &error));
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_slice_iter(&bytes(cert)?).collect();
    let chain = chain.map_err(|error| wrong(cert, &error))?;
    if chain.is_empty() {
        return Err(wrong(cert, &"there is no certificate in it"));
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes(key)?).map_err(|error| wrong(key, &error))?;
    let certified = CertifiedKey::from_der(chain, private, provider);
    certified.map(Arc::new).map_err(|error| wrong(key, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files {
        folder: tempfile::TempDir,
    }

    impl Files {
        fn write(&self, cert: &str, key: &str) {
            fs::write(self.paths().cert, cert).expect("a file");
            fs::write(self.paths().key, key).expect("a file");
        }

        fn paths(&self) -> TlsFiles {
            TlsFiles { cert: self.folder.path().join("cert.pem"), key: self.folder.path().join("key.pem") }
        }
    }

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn current(certificate: &Certificate) -> Vec<u8> {
        certificate.current.read().expect("no poison").cert[0].to_vec()
    }

    #[test]
    fn files_that_cannot_be_used_leave_the_certificate_as_it_was() {
        let files = Files { folder: tempfile::tempdir().expect("a folder") };
        let ((first, first_key), (second, second_key)) = (pair(), pair());
        files.write(&first, &first_key);
        let certificate = Certificate::open(files.paths()).expect("a certificate");
        let before = current(&certificate);
        for (cert, key) in [(&second, &first_key), (&String::new(), &second_key), (&second, &second)] {
            files.write(cert, key);
            certificate.reload();
            assert_eq!(current(&certificate), before);
        }
        let stamps = certificate.stamps();
        files.write(&second, &second_key);
        assert_ne!(certificate.stamps(), stamps);
        certificate.reload();
        assert_ne!(current(&certificate), before);
    }

    #[test]
    fn what_cannot_be_used_at_the_start_names_the_file() {
        let files = Files { folder: tempfile::tempdir().expect("a folder") };
        let ((first, first_key), (_, second_key)) = (pair(), pair());
        let check = |cert: &str, key: &str, file: &str| {
            files.write(cert, key);
            let error = Certificate::open(files.paths()).expect_err("unusable");
            assert!(error.contains(file), "{error}");
        };
        check("", &first_key, "cert.pem");
        check(&first, "", "key.pem");
        check(&first, &second_key, "key.pem");
    }
}
