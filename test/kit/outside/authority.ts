import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import tls from 'node:tls';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

cryptoProvider.set(webcrypto);

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;

/** What a server of TLS needs. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority for servers of the kit. */
export class Authority {
  readonly #certificate: X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(certificate: X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.#certificate = certificate;
    this.#keys = keys;
  }

  static async create(): Promise<Authority> {
    const keys = await makeKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      serialNumber: serialNumber(),
      // A name of its own: of two with the same name a verifier takes the first.
      name: `CN=Authority ${randomBytes(8).toString('hex')} of the tests`,
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [new BasicConstraintsExtension(true, undefined, true)],
    });
    return new Authority(certificate, keys);
  }

  /** For `NODE_EXTRA_CA_CERTS` of a process. */
  get pem(): string {
    return this.#certificate.toString('pem');
  }

  /** This process believes it from now on, beside those that it believed before. */
  trust(): this {
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), this.pem]);
    return this;
  }

  /** @param names host names and addresses */
  async issue(names: readonly string[], { daysLeft = 1 }: { daysLeft?: number } = {}): Promise<ServerCertificate> {
    const keys = await makeKeys();
    const certificate = await X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: 'CN=Server of the tests',
      issuer: this.#certificate.subject,
      notBefore: new Date(Date.now() - 3 * DAY_MS),
      notAfter: new Date(Date.now() + daysLeft * DAY_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      extensions: [
        new SubjectAlternativeNameExtension(
          names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
        ),
      ],
    });
    const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return { cert: certificate.toString('pem'), key: PemConverter.encode(key, PemConverter.PrivateKeyTag) };
  }
}

const makeKeys = () =>
  webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;

const serialNumber = (): string => `01${randomBytes(15).toString('hex')}`;
