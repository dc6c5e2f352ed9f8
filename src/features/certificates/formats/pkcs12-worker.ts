import { parentPort, workerData } from 'node:worker_threads';
import forge from 'node-forge';
import type { Pkcs12Contents, Pkcs12Error, Pkcs12Question } from './pkcs12-reading.js';

const { asn1, pki, pkcs12, util } = forge;
const { certBag, keyBag, pkcs8ShroudedKeyBag } = pki.oids as Record<
  'certBag' | 'keyBag' | 'pkcs8ShroudedKeyBag',
  string
>;

/** Newer files use the password in UTF-8; older ones, and every MAC, in UTF-16, which the library handles. */
const { pbe } = pki as unknown as {
  pbe: { getCipherForPBES2(oid: string, params: unknown, password: string): unknown };
};
const { getCipherForPBES2 } = pbe;
pbe.getCipherForPBES2 = (oid, params, password) => getCipherForPBES2(oid, params, util.encodeUtf8(password));

/** About a second of work for Node, which nothing can interrupt; the library takes twenty, and ends when its thread is terminated. */
const MOST_ITERATIONS_OF_NODE = 1_000_000;
const DIGESTS_OF_NODE = ['sha1', 'sha256', 'sha384', 'sha512'];
type Derive = (password: string, salt: string, iterations: number, length: number, digest: unknown) => string;
const { pkcs5 } = forge as unknown as { pkcs5: { pbkdf2: Derive } };
const { pbkdf2 } = pkcs5;
// The library leaves it to Node only if the digest is given by name, which it does not do itself.
pkcs5.pbkdf2 = (password, salt, iterations, length, digest) => {
  const { algorithm } = digest as { readonly algorithm: string };
  const isForNode = iterations <= MOST_ITERATIONS_OF_NODE && DIGESTS_OF_NODE.includes(algorithm);
  return pbkdf2(password, salt, iterations, length, isForNode ? algorithm : digest);
};

// The library parses RSA keys only and re-encodes what it parses; this keeps the original bytes.
const unread = (): never => {
  throw new Error('kept as bytes');
};
pki.certificateFromAsn1 = unread;
pki.privateKeyFromAsn1 = unread;

const { file, password } = workerData as Pkcs12Question;
parentPort?.postMessage(read());

function read(): Pkcs12Contents | Pkcs12Error {
  try {
    const bytes = util.createBuffer(Buffer.from(file).toString('binary'));
    const opened = pkcs12.pkcs12FromAsn1(asn1.fromDer(bytes), false, password);
    const bags = (type: string): Uint8Array[] =>
      (opened.getBags({ bagType: type })[type] ?? []).map(({ asn1: der }) => bytesOf(der));
    return { certificates: bags(certBag), keys: [...bags(keyBag), ...bags(pkcs8ShroudedKeyBag)] };
  } catch (error) {
    // The library reports it only in the message.
    return /invalid password/i.test((error as Error).message) ? 'password' : 'file';
  }
}

function bytesOf(der: forge.asn1.Asn1): Uint8Array {
  return Buffer.from(asn1.toDer(der).getBytes(), 'binary');
}
