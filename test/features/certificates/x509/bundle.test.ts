import { generateKeyPairSync } from 'node:crypto';
import { type Bundle, readBundle } from '../../../../src/features/certificates/x509/bundle.js';
import { factsOf } from '../../../../src/features/certificates/x509/facts.js';
import { newKeyPair, privateKeyPem } from '../../../../src/features/certificates/x509/keys.js';
import { AppError } from '../../../../src/kernel/errors.js';
import { type Made, newIntermediate, newLeaf, newRoot } from '../../../kit/certificates/material.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';

let root: Made;
let intermediate: Made;
let leaf: Made;
beforeAll(async () => {
  root = await newRoot();
  intermediate = await newIntermediate(root);
  leaf = await newLeaf(intermediate);
});

const read = (...texts: string[]): Bundle => readBundle(texts.map((text, at) => ({ path: `part${at}`, text })));
const shapeOf = ({ leaf: first, chain, privateKey }: Bundle) => ({
  leaf: first.subject,
  chain: chain.map(({ subject }) => subject),
  hasKey: privateKey !== null,
});

/** Where and what is wrong. */
function faultsOf(...texts: string[]): string[] {
  try {
    read(...texts);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return (error.details ?? []).map(({ path, message }) => `${path} ${message}`);
  }
}

describe('a bundle', () => {
  test('is read in whatever order its blocks are, with text around them', () => {
    const parts = [leaf.pem, intermediate.pem, root.pem, leaf.key];
    const wanted = shapeOf(read(...parts));
    expect(wanted).toEqual({
      leaf: 'CN=shop.example.com',
      chain: ['O=Example\nCN=Intermediate', 'CN=Root'],
      hasKey: true,
    });
    fc.assert(
      fc.property(
        fc.shuffledSubarray(parts, { minLength: 4 }),
        fc.constantFrom('', 'Bag Attributes: x\r\n'),
        (blocks, noise) => {
          expect(shapeOf(read(blocks.map((block) => noise + block).join(noise)))).toEqual(wanted);
          expect(shapeOf(read(...blocks.map((block) => block.replaceAll('\n', '\r\n'))))).toEqual(wanted);
        },
      ),
    );
  });

  test('may have no key, no chain, part of a chain, or the same certificate twice', () => {
    expect(shapeOf(read(leaf.pem))).toEqual({ leaf: 'CN=shop.example.com', chain: [], hasKey: false });
    expect(shapeOf(read(intermediate.pem, leaf.pem, leaf.pem)).chain).toHaveLength(1);
    expect(shapeOf(read(root.pem)).leaf).toBe('CN=Root');
    expect(shapeOf(read(intermediate.pem, root.pem)).leaf).toBe('O=Example\nCN=Intermediate');
  });

  test('takes keys in the older forms of RSA and of curves', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    expect(faultsOf(leaf.pem, privateKey.export({ format: 'pem', type: 'sec1' }).toString())).toEqual([
      'part1 contains a private key that does not match any of the certificates (line 1)',
    ]);
    expect(
      read(leaf.pem, leaf.pair.privateKey.export({ format: 'pem', type: 'sec1' }).toString()).privateKey,
    ).not.toBeNull();
  });

  test('is refused with the line of every block that is wrong', async () => {
    const other = await newRoot('ec-p256', 'Other');
    const encrypted = leaf.pair.privateKey
      .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString();
    const broken = leaf.pem.replace(/\n[A-Za-z0-9+/]/, '\n!');
    const cut = leaf.pem.replace(/-----END[^\n]*/, '');
    expect(faultsOf('')).toEqual(['part0 must be PEM: -----BEGIN ...-----']);
    expect(faultsOf('nonsense')).toEqual(['part0 must be PEM: -----BEGIN ...-----']);
    expect(faultsOf(`${leaf.pem}\n${encrypted}`, broken, cut)).toEqual([
      `part1 contains a PEM block that is not valid base64 (line 1)`,
      'part2 contains a PEM block without an END line (line 1)',
      `part0 contains an encrypted private key; decrypt it first (line ${leaf.pem.split('\n').length + 1})`,
    ]);
    expect(faultsOf(leaf.pem + leaf.key + other.key)[0]).toMatch(/^part0 contains a second private key/);
    expect(faultsOf(leaf.pem, other.pem)).toEqual([
      'part0 must contain one certificate and, besides it, only its issuers',
    ]);
    expect(faultsOf(leaf.pem + leaf.key, other.pem)).toEqual([
      'part1 contains a certificate that is not part of the chain (line 1)',
    ]);
    expect(faultsOf(leaf.pem, privateKeyPem((await newKeyPair('ed25519')).privateKey))).toEqual([
      'part1 contains a private key that does not match any of the certificates (line 1)',
    ]);
    expect(faultsOf(leaf.key)).toEqual([
      'part0 contains a private key that does not match any of the certificates (line 1)',
    ]);
    expect(faultsOf('-----BEGIN PKCS7-----\nAAAA\n-----END PKCS7-----')).toEqual([
      'part0 contains a PEM block that is neither a certificate nor a private key (line 1)',
    ]);
    expect(faultsOf('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')).toEqual([
      'part0 contains a certificate that cannot be parsed (line 1)',
    ]);
    // No error of OpenSSL is left behind, which the next one would meet.
    expect(faultsOf(leaf.pem, leaf.key)).toEqual([]);
    expect(faultsOf(leaf.pem + ' '.repeat(64 * 1024))).toEqual(['part0 must have at most 64 KiB']);
    expect(faultsOf(leaf.pem + ' '.repeat(40_000), ' '.repeat(40_000))[0]).toBe(
      'part0 must have at most 64 KiB in total',
    );
  });

  test('never throws anything but faults, whatever bytes a block has', () => {
    const der = leaf.certificate.raw;
    fc.assert(
      fc.property(
        fc.nat(der.length - 1),
        fc.nat(255),
        fc.constantFrom('CERTIFICATE', 'PRIVATE KEY', 'EC PRIVATE KEY'),
        (at, byte, label) => {
          const bytes = Buffer.from(der);
          bytes[at] = byte;
          for (const text of [bytes, bytes.subarray(0, at)])
            expect(() =>
              faultsOf(`-----BEGIN ${label}-----\n${text.toString('base64')}\n-----END ${label}-----`),
            ).not.toThrow();
          expect(read(leaf.pem, leaf.key).privateKey).not.toBeNull();
        },
      ),
      { numRuns: rounds(150) },
    );
  });
});

test('facts of a certificate are its own', () => {
  expect(factsOf(leaf.certificate)).toEqual({
    serialNumber: expect.stringMatching(/^[4-7][0-9A-F]{31}$/),
    subject: 'CN=shop.example.com',
    subjectAttributes: [{ type: 'CN', value: 'shop.example.com' }],
    issuer: 'O=Example, CN=Intermediate',
    commonName: 'shop.example.com',
    sans: [
      { kind: 'dns', value: 'shop.example.com' },
      { kind: 'dns', value: '*.example.org' },
      { kind: 'ip', value: '192.0.2.7' },
      { kind: 'email', value: 'ops@example.com' },
      { kind: 'uri', value: 'https://example.com/shop' },
    ],
    notBefore: leaf.certificate.validFromDate,
    notAfter: leaf.certificate.validToDate,
    keyAlgorithm: 'ec-p256',
    keyUsages: ['digitalSignature'],
    extendedKeyUsages: [],
    isCa: false,
    pathLength: null,
    fingerprintSha256: leaf.certificate.fingerprint256.replaceAll(':', ''),
    fingerprintSha1: leaf.certificate.fingerprint.replaceAll(':', ''),
    subjectKeyIdentifier: expect.stringMatching(/^[0-9A-F]{40}$/),
    authorityKeyIdentifier: factsOf(intermediate.certificate).subjectKeyIdentifier,
  });
  expect(factsOf(intermediate.certificate)).toMatchObject({
    isCa: true,
    pathLength: 0,
    keyUsages: ['keyCertSign', 'cRLSign'],
    authorityKeyIdentifier: factsOf(root.certificate).subjectKeyIdentifier,
  });
});
