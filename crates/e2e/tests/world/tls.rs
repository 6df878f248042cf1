//! Certificates of servers, signed by an authority of the test.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::World;

/// Signs certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Writes a new certificate for servers of this machine and its key; tells the certificate.
    pub(crate) fn issue(&self, cert: &Path, key: &Path) -> CertificateDer<'static> {
        let params = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
        let pair = KeyPair::generate().unwrap();
        let signed = params.signed_by(&pair, &self.issuer).unwrap();
        // The key last: until then the two do not fit each other, as on a real machine.
        std::fs::write(cert, signed.pem()).unwrap();
        std::fs::write(key, pair.serialize_pem()).unwrap();
        signed.der().clone()
    }

    /// A connection to a server that shows a certificate of ours.
    pub(crate) fn connect(&self, socket: TcpStream) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = "127.0.0.1".try_into().unwrap();
        StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), socket)
    }
}

impl World {
    /// Gives servers that are started from now on a certificate, and everybody the authority to trust. Tells the certificate.
    pub(crate) fn encrypt(&mut self) -> CertificateDer<'static> {
        let authority = Authority::new();
        let [cert, key, ca] = ["cert.pem", "key.pem", "ca.pem"].map(|name| self.path(name));
        let certificate = authority.issue(&cert, &key);
        std::fs::write(&ca, &authority.pem).unwrap();
        let ca = ca.to_str().unwrap();
        for (name, value) in [
            ("SERVER__TLS_CERT", cert.to_str().unwrap()),
            ("SERVER__TLS_KEY", key.to_str().unwrap()),
            ("SERVER__CA_FILE", ca),
            ("AGENT__CA_FILE", ca),
            ("CLIENT__CA_FILE", ca),
        ] {
            self.set(name, value);
        }
        self.authority = Some(authority);
        certificate
    }

    /// Who signs.
    pub(crate) fn authority(&self) -> &Authority {
        self.authority.as_ref().unwrap()
    }

    /// The certificate that a server shows to a new connection.
    pub(crate) fn shown_certificate(&self, server: &str) -> CertificateDer<'static> {
        let mut stream = self.authority().connect(TcpStream::connect(self.address_of(server)).unwrap());
        stream.conn.complete_io(&mut stream.sock).unwrap();
        stream.conn.peer_certificates().unwrap()[0].clone().into_owned()
    }
}
