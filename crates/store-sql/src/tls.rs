//! Whether and how a connection is encrypted. There is no encryption without a checked certificate: who cannot
//! check one names the authority's file in `sslrootcert`.

use std::path::PathBuf;
use std::sync::Arc;

use mainspring_store::Error;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::session::Result;
use crate::url::Options;

/// What the URL says about encryption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tls {
    required: Option<bool>,
    /// A file with the certificates of authorities to trust instead of the usual ones.
    pub(crate) root_cert: Option<PathBuf>,
}

impl Tls {
    /// Takes `sslmode` and `sslrootcert` out.
    pub(crate) fn take(options: &mut Options) -> Result<Self> {
        // libpq's names for checked encryption mean the same here; its unchecked ones do not exist.
        let words = ["disable", "require", "verify-ca", "verify-full"];
        let mode = options.take_word("sslmode", &words, words.len())?;
        let required = (mode < words.len()).then_some(mode > 0);
        let root_cert = options.take("sslrootcert").map(PathBuf::from);
        Ok(Self { required, root_cert })
    }

    /// Whether to encrypt: what was said, or whenever the server is not on this machine.
    pub(crate) fn is_required(&self, local: bool) -> bool {
        self.required.unwrap_or(!local || self.root_cert.is_some())
    }

    /// The client's side of it, if encrypted.
    pub(crate) fn client_config(&self, local: bool) -> Result<Option<ClientConfig>> {
        if !self.is_required(local) {
            return Ok(None);
        }
        let mut roots = RootCertStore::empty();
        match &self.root_cert {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(path) => {
                let unusable = |what: String| Error::Open(format!("sslrootcert {}: {what}", path.display()));
                let certificates =
                    CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
                for certificate in certificates {
                    let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
                    roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
                }
            }
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Open(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Some(config))
    }
}

/// Whether a host is this machine.
pub(crate) fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_spoken_to_in_the_clear() {
        for (url, local, encrypted) in [
            ("x", true, false),
            ("x", false, true),
            ("x?sslmode=disable", false, false),
            ("x?sslmode=require", true, true),
            ("x?sslrootcert=a.pem", true, true),
        ] {
            let tls = Tls::take(&mut Options::of(url)).unwrap();
            assert_eq!(tls.is_required(local), encrypted, "{url} {local}");
        }
        assert!(Tls::take(&mut Options::of("x?sslmode=prefer")).is_err());
        assert!(is_local("127.0.0.1") && is_local("::1") && is_local("localhost") && !is_local("db.example"));
    }

    #[test]
    fn a_client_can_be_made_and_a_missing_file_is_named() {
        let tls = |url| Tls::take(&mut Options::of(url)).unwrap();
        assert!(tls("x").client_config(false).unwrap().is_some());
        let error = tls("x?sslrootcert=nowhere.pem").client_config(true).unwrap_err();
        assert!(error.to_string().contains("nowhere.pem"), "{error}");
    }
}
