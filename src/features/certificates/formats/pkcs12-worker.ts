import { hash, pbkdf2Sync } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import forge from 'node-forge';
import type { Pkcs12Contents, Pkcs12Error, Pkcs12Input } from './pkcs12-reading.js';

const { asn1, pki, pkcs12, rc2, util } = forge;
const { certBag, keyBag, pkcs8ShroudedKeyBag } = pki.oids as Record<
  'certBag' | 'keyBag' | 'pkcs8ShroudedKeyBag',
  string
>;

/** Nothing can interrupt Node while it derives a key: this is about a second. */
const MAX_ITERATIONS = 1_000_000;
class TooManyIterations extends Error {}

/** A string of bytes, or a buffer of the library. */
type Bytes = string | forge.util.ByteStringBuffer;
type Digest = { readonly algorithm: string };
/** What the library decrypts with. */
interface Decryption {
  update(input: forge.util.ByteStringBuffer): void;
  finish(): boolean;
  output: forge.util.ByteStringBuffer;
}
type DeriveKey = (
  password: string,
  salt: Bytes,
  id: number,
  iterations: number,
  length: number,
  digest: Digest,
) => Bytes;
interface Internals {
  readonly des: { createDecryptionCipher: (key: string) => unknown };
  readonly pkcs5: {
    pbkdf2: (password: string, salt: Bytes, iterations: number, length: number, digest: Digest) => string;
  };
  readonly pkcs12: { generateKey: DeriveKey };
  readonly pki: {
    readonly pbe: {
      getCipher: (oid: string, params: forge.asn1.Asn1, password: string) => Decryption;
      getCipherForPBES2: (oid: string, params: forge.asn1.Asn1, password: string) => Decryption;
    };
  };
}

// What follows replaces parts of the library, which derives keys in JavaScript: 20 times as long, and too long for Java's files.
const internals = forge as unknown as Internals;
const { des } = internals;
const { pbe } = internals.pki;

/** Newer files use the password in UTF-8; older ones, and every MAC, in UTF-16. */
const { getCipherForPBES2, getCipher } = pbe;
pbe.getCipherForPBES2 = (oid, params, password) => getCipherForPBES2(oid, params, util.encodeUtf8(password));

internals.pkcs5.pbkdf2 = (password, salt, iterations, length, { algorithm }) => {
  if (iterations > MAX_ITERATIONS) throw new TooManyIterations();
  return toText(pbkdf2Sync(toBytes(password), toBytes(salt), iterations, length, algorithm));
};

internals.pkcs12.generateKey = (password, salt, id, iterations, length, { algorithm }) =>
  util.createBuffer(toText(derived({ password, salt: toBytes(salt), iterations }, { id, length, algorithm })));

/** The encryptions of RFC 7292, appendix C, by the last number of their ids. */
const OLD_ENCRYPTIONS: readonly { readonly keyLength: number; readonly decrypt: Decrypt }[] = [
  { keyLength: 16, decrypt: (key, _, data) => rc4(key, data) },
  { keyLength: 5, decrypt: (key, _, data) => rc4(key, data) },
  { keyLength: 24, decrypt: (key, iv, data) => decrypted(des.createDecryptionCipher(toText(key)), iv, data) },
  {
    keyLength: 16,
    decrypt: (key, iv, data) =>
      decrypted(des.createDecryptionCipher(toText(key) + toText(key.subarray(0, 8))), iv, data),
  },
  { keyLength: 16, decrypt: (key, iv, data) => decrypted(rc2.createDecryptionCipher(toText(key), 128), iv, data) },
  { keyLength: 5, decrypt: (key, iv, data) => decrypted(rc2.createDecryptionCipher(toText(key), 40), iv, data) },
];
type Decrypt = (key: Buffer, iv: Buffer, data: Buffer) => Buffer;

pbe.getCipher = (oid, params, password) => {
  const old = /^1\.2\.840\.113549\.1\.12\.1\.([1-6])$/.exec(oid);
  if (old === null) return getCipher(oid, params, password);
  const { keyLength, decrypt } = OLD_ENCRYPTIONS[Number(old[1]) - 1] as (typeof OLD_ENCRYPTIONS)[number];
  const [salt, count] = (params.value as forge.asn1.Asn1[]).map(({ value }) => toBytes(value as string));
  if (salt === undefined || count === undefined) throw new Error('has no parameters');
  const material = { password, salt, iterations: Number.parseInt(count.toString('hex'), 16) };
  const key = derived(material, { id: 1, length: keyLength, algorithm: 'sha1' });
  const iv = derived(material, { id: 2, length: 8, algorithm: 'sha1' });
  const decryption: Decryption = {
    output: util.createBuffer(),
    update: (input) => {
      decryption.output = util.createBuffer(toText(decrypt(key, iv, toBytes(input))));
    },
    finish: () => true,
  };
  return decryption;
};

// The library parses RSA keys only and re-encodes what it parses; this keeps the original bytes.
const unread = (): never => {
  throw new Error('kept as bytes');
};
pki.certificateFromAsn1 = unread;
pki.privateKeyFromAsn1 = unread;

const { file, password } = workerData as Pkcs12Input;
parentPort?.postMessage(read());

function read(): Pkcs12Contents | Pkcs12Error {
  try {
    const opened = pkcs12.pkcs12FromAsn1(asn1.fromDer(util.createBuffer(toText(Buffer.from(file)))), false, password);
    const bags = (type: string): Uint8Array[] =>
      (opened.getBags({ bagType: type })[type] ?? []).map(({ asn1: der }) => toBytes(asn1.toDer(der)));
    return { certificates: bags(certBag), keys: [...bags(keyBag), ...bags(pkcs8ShroudedKeyBag)] };
  } catch (error) {
    if (error instanceof TooManyIterations) return 'iterations';
    // The library reports it only in the message.
    return /invalid password/i.test((error as Error).message) ? 'password' : 'file';
  }
}

/** Derives a key, an initialization vector or the key of a MAC (`id` 1 to 3) from a password: RFC 7292, appendix B.2. */
function derived(
  { password, salt, iterations }: { password: string; salt: Buffer; iterations: number },
  { id, length, algorithm }: { id: number; length: number; algorithm: string },
): Buffer {
  if (iterations > MAX_ITERATIONS) throw new TooManyIterations();
  if (!(iterations >= 1)) throw new Error('has no iterations');
  const size = algorithm === 'sha384' || algorithm === 'sha512' ? 128 : 64;
  const repeated = (text: Buffer): Buffer => Buffer.alloc(Math.ceil(text.length / size) * size, text);
  const input = Buffer.concat([repeated(salt), repeated(Buffer.from(`${password}\0`, 'utf16le').swap16())]);
  const parts: Buffer[] = [];
  for (let left = length; left > 0; ) {
    let part = hash(algorithm, Buffer.concat([Buffer.alloc(size, id), input]), 'buffer');
    for (let round = 1; round < iterations; round += 1) part = hash(algorithm, part, 'buffer');
    parts.push(part);
    left -= part.length;
    const addend = Buffer.alloc(size, part);
    for (let block = 0; block < input.length; block += size) {
      let carry = 1;
      for (let at = size - 1; at >= 0; at -= 1) {
        carry += (input[block + at] as number) + (addend[at] as number);
        input[block + at] = carry & 0xff;
        carry >>= 8;
      }
    }
  }
  return Buffer.concat(parts).subarray(0, length);
}

interface BlockCipher extends Decryption {
  start(iv: forge.util.ByteStringBuffer, output: forge.util.ByteStringBuffer): void;
}

function decrypted(cipher: unknown, iv: Buffer, data: Buffer): Buffer {
  const block = cipher as BlockCipher;
  block.start(util.createBuffer(toText(iv)), util.createBuffer());
  block.update(util.createBuffer(toText(data)));
  if (!block.finish()) throw new Error('has wrong padding');
  return toBytes(block.output);
}

/** Node does not have it. */
function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  let [i, j] = [0, 0];
  const swap = (): void => {
    const kept = state[i] as number;
    state[i] = state[j] as number;
    state[j] = kept;
  };
  for (; i < 256; i += 1) {
    j = (j + (state[i] as number) + (key[i % key.length] as number)) & 0xff;
    swap();
  }
  [i, j] = [0, 0];
  return data.map((byte) => {
    i = (i + 1) & 0xff;
    j = (j + (state[i] as number)) & 0xff;
    swap();
    return byte ^ (state[((state[i] as number) + (state[j] as number)) & 0xff] as number);
  }) as Buffer;
}

function toBytes(bytes: Bytes): Buffer {
  return Buffer.from(typeof bytes === 'string' ? bytes : bytes.bytes(), 'binary');
}

function toText(bytes: Buffer): string {
  return bytes.toString('binary');
}
