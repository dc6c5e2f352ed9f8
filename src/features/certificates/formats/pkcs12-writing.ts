import { createHash, type KeyObject, type X509Certificate } from 'node:crypto';
import * as asn1 from 'asn1js';
import {
  Attribute,
  AuthenticatedSafe,
  CertBag,
  Certificate,
  PFX,
  PKCS8ShroudedKeyBag,
  PrivateKeyInfo,
  SafeBag,
  SafeContents,
} from 'pkijs';
import { FairQueue } from '../../../kernel/load/fair-queue.js';

const SHROUDED_KEY = '1.2.840.113549.1.12.10.1.2';
const CERTIFICATE = '1.2.840.113549.1.12.10.1.3';
const FRIENDLY_NAME = '1.2.840.113549.1.9.20';
const LOCAL_KEY_ID = '1.2.840.113549.1.9.21';

const ENCRYPTION_ITERATIONS = 100_000;
/** Each step is a key derivation of its own; the library runs them one by one, so other work can run in between. */
const MAC_ITERATIONS = 10_000;

/** Many at the same time would slow down everything else. */
const writers = new FairQueue({ capacity: 1, spare: 1, maxWaiting: 100 });

/** Content of a PKCS#12 file. */
interface Pkcs12Content {
  readonly leaf: X509Certificate;
  readonly chain: readonly X509Certificate[];
  readonly privateKey: KeyObject;
  /** Display name in tools. */
  readonly name: string;
  readonly password: string;
}

/**
 * Encodes a PKCS#12 file in DER: key and certificates encrypted with AES-256 (PBES2, PBKDF2 with SHA-256), and a MAC with SHA-256.
 * Readable by OpenSSL 1.1, Java 8u301, Windows Server 2019 and later (RFC 7292).
 *
 * @param caller for fair queueing of callers with several requests
 * @throws OVERLOADED
 */
export async function writePkcs12(caller: string, content: Pkcs12Content): Promise<Buffer> {
  const ticket = writers.enter(caller, 1);
  try {
    await ticket.turn;
    return await write(content);
  } finally {
    ticket.end();
  }
}

async function write({ leaf, chain, privateKey, name, password }: Pkcs12Content): Promise<Buffer> {
  const encryption = {
    password: ownBuffer(new TextEncoder().encode(password)),
    contentEncryptionAlgorithm: { name: 'AES-CBC', length: 256 },
    hmacHashAlgorithm: 'SHA-256',
    iterationCount: ENCRYPTION_ITERATIONS,
  };
  const info = PrivateKeyInfo.fromBER(ownBuffer(privateKey.export({ type: 'pkcs8', format: 'der' })));
  const key = new PKCS8ShroudedKeyBag({ parsedValue: info });
  await key.makeInternalValues(encryption);
  // The library leaves it in constructed form, which is not DER and which other readers reject.
  key.encryptedData = new asn1.OctetString({ valueHex: key.encryptedData.getValue() });
  // Readers match the certificate and its key by it.
  const attributes = [
    new Attribute({ type: FRIENDLY_NAME, values: [new asn1.BmpString({ value: name })] }),
    new Attribute({ type: LOCAL_KEY_ID, values: [new asn1.OctetString({ valueHex: localKeyId(leaf) })] }),
  ];
  const safe = new AuthenticatedSafe({
    parsedValue: {
      safeContents: [
        plain([new SafeBag({ bagId: SHROUDED_KEY, bagValue: key, bagAttributes: attributes })]),
        encrypted([certificateBag(leaf, attributes), ...chain.map((issuer) => certificateBag(issuer))]),
      ],
    },
  });
  await safe.makeInternalValues({ safeContents: [{}, encryption] });
  const file = new PFX({ parsedValue: { integrityMode: 0, authenticatedSafe: safe } });
  await file.makeInternalValues({
    password: encryption.password,
    iterations: MAC_ITERATIONS,
    pbkdf2HashAlgorithm: { name: 'SHA-256' },
    hmacHashAlgorithm: 'SHA-256',
  });
  return Buffer.from(file.toSchema().toBER());
}

const plain = (safeBags: SafeBag[]) => ({ privacyMode: 0, value: new SafeContents({ safeBags }) });
const encrypted = (safeBags: SafeBag[]) => ({ privacyMode: 1, value: new SafeContents({ safeBags }) });

const certificateBag = ({ raw }: X509Certificate, bagAttributes?: Attribute[]): SafeBag =>
  new SafeBag({
    bagId: CERTIFICATE,
    bagValue: new CertBag({ parsedValue: Certificate.fromBER(ownBuffer(raw)) }),
    ...(bagAttributes && { bagAttributes }),
  });

const localKeyId = ({ raw }: X509Certificate): ArrayBuffer => ownBuffer(createHash('sha1').update(raw).digest());

/** Node's buffers share memory, and the library uses the whole underlying buffer. */
const ownBuffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
