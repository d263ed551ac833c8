package plimsoll.stress.cql;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts certificates that name their host among their alternative names, as another manager does.
 *
 * <p>Java also takes a common name for a host's where there are no such names, and anybody may have that.
 */
final class NamedHosts extends X509ExtendedTrustManager {
    private static final int DNS_NAME = 2;

    private final X509ExtendedTrustManager others;

    NamedHosts(X509ExtendedTrustManager others) {
        this.others = others;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        others.checkServerTrusted(chain, type, engine);
        requireNames(chain[0], engine.getPeerHost());
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        others.checkServerTrusted(chain, type, socket);
        requireNames(chain[0], null);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        others.checkServerTrusted(chain, type);
        requireNames(chain[0], null);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        others.checkClientTrusted(chain, type, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        others.checkClientTrusted(chain, type, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        others.checkClientTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return others.getAcceptedIssuers();
    }

    /** Requires the name of a host, unless an address was asked for: for that Java takes no common name. */
    private static void requireNames(X509Certificate certificate, String asked) throws CertificateException {
        boolean isAddress = asked != null && (asked.contains(":") || asked.matches("[0-9.]+"));
        Collection<List<?>> names = certificate.getSubjectAlternativeNames();
        boolean hasName = names != null && names.stream().anyMatch(name -> name.get(0).equals(DNS_NAME));
        if (!isAddress && !hasName) {
            throw new CertificateException("the certificate names no host among its subject alternative names");
        }
    }
}
