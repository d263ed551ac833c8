package plimsoll.stress.cql;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import plimsoll.stress.core.ExitCode;
import plimsoll.stress.core.StressException;

/**
 * How to log in to a database: user and password, and the certificates of TLS.
 *
 * <p>They come by standard input alone, as {@code {"user", "password", "tls", "ca", "certificate", "key"}}: a command
 * line and an environment can be read by other programs, and a file may outlive its reader.
 */
final class Login {
    static final Login NONE = new Login(null, null, null);

    private static final int MOST_BYTES = 1 << 16;
    private static final List<String> ALGORITHMS = List.of("RSA", "EC");
    private static final char[] NO_PASSWORD = {};

    /** Null: the database asks for none. */
    final String user;

    final String password;

    /** Null: the connection is not encrypted. */
    final SSLContext tls;

    private Login(String user, String password, SSLContext tls) {
        this.user = user;
        this.password = password;
        this.tls = tls;
    }

    /** @throws StressException with {@link ExitCode#USAGE}; its message has nothing of the input, which is secret */
    static Login read(InputStream input) throws StressException {
        try {
            byte[] given = input.readNBytes(MOST_BYTES + 1);
            if (given.length > MOST_BYTES) {
                throw new IOException("too long");
            }
            Map<?, ?> values = new ObjectMapper().readValue(given, Map.class);
            if (values == null) {
                throw new IOException("nothing");
            }
            SSLContext tls = Boolean.TRUE.equals(values.get("tls")) ? context(values) : null;
            return new Login(text(values, "user"), Objects.toString(values.get("password"), ""), tls);
        } catch (IOException | GeneralSecurityException | IllegalArgumentException error) {
            throw new StressException(
                    ExitCode.USAGE,
                    "user, password or certificates on standard input can't be read: "
                            + error.getClass().getSimpleName());
        }
    }

    private static SSLContext context(Map<?, ?> given) throws GeneralSecurityException, IOException, StressException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own(text(given, "certificate"), text(given, "key")), trusted(text(given, "ca")), null);
        return context;
    }

    /** Returns those who trust this authority alone; null: those of the JDK. */
    private static TrustManager[] trusted(String authority) throws GeneralSecurityException, IOException {
        KeyStore store = authority == null ? null : emptyStore();
        if (store != null) {
            for (Certificate certificate : certificates(authority)) {
                store.setCertificateEntry("authority " + store.size(), certificate);
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return Arrays.stream(factory.getTrustManagers())
                .map(manager -> new NamedHosts((X509ExtendedTrustManager) manager))
                .toArray(TrustManager[]::new);
    }

    private static KeyManager[] own(String chain, String key)
            throws GeneralSecurityException, IOException, StressException {
        if (chain == null) {
            return null;
        }
        StressException.require(key != null, "on standard input is a certificate without its key: give both, or neither");
        KeyStore store = emptyStore();
        store.setKeyEntry("own", privateKey(key), NO_PASSWORD, certificates(chain).toArray(new Certificate[0]));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        return store;
    }

    private static Collection<? extends Certificate> certificates(String pem) throws GeneralSecurityException {
        byte[] bytes = pem.getBytes(StandardCharsets.US_ASCII);
        return CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(bytes));
    }

    /** Reads a key as PKCS #8 in PEM, {@code BEGIN PRIVATE KEY}, which does not say in plain text of what kind it is. */
    private static PrivateKey privateKey(String pem) throws GeneralSecurityException {
        byte[] encoded = Base64.getMimeDecoder().decode(pem.replaceAll("-----[^-]*-----", ""));
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
            } catch (InvalidKeySpecException ofAnotherKind) {
                continue;
            }
        }
        throw new InvalidKeySpecException("neither RSA nor EC in PKCS #8");
    }

    private static String text(Map<?, ?> values, String name) {
        Object value = values.get(name);
        return value == null || value.toString().isEmpty() ? null : value.toString();
    }
}
