import 'reflect-metadata';
import type { KeyObject, X509Certificate } from 'node:crypto';
import {
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509';
import {
  type KeyAlgorithm,
  type KeyPair,
  newKeyPair,
  privateKeyPem,
  signerOf,
  verifierOf,
} from '../../../src/features/certificates/x509/keys.js';
import { makeCertificate, makeIntermediate, makeRoot } from '../../../src/features/certificates/x509/making.js';
import { toPem } from '../../../src/features/certificates/x509/pem.js';

/** A certificate with its key, both also as PEM. */
export interface Made {
  readonly certificate: X509Certificate;
  readonly pair: KeyPair;
  readonly pem: string;
  readonly key: string;
}

/** From now on, for so many days. */
export const days = (count: number) => {
  const notBefore = new Date();
  notBefore.setMilliseconds(0);
  return { notBefore, notAfter: new Date(notBefore.getTime() + count * 86_400_000) };
};

const made = (certificate: X509Certificate, pair: KeyPair): Made => ({
  certificate,
  pair,
  pem: toPem('CERTIFICATE', certificate.raw),
  key: privateKeyPem(pair.privateKey),
});

export const newRoot = async (algorithm: KeyAlgorithm = 'ec-p256', commonName = 'Root'): Promise<Made> => {
  const pair = await newKeyPair(algorithm);
  return made(await makeRoot({ commonName }, pair, { ...days(3650), maxPathLength: null }), pair);
};

const issuerOf = ({ certificate, pair }: Made): { certificate: X509Certificate; privateKey: KeyObject } => ({
  certificate,
  privateKey: pair.privateKey,
});

export const newIntermediate = async (
  parent: Made,
  algorithm: KeyAlgorithm = 'ec-p256',
  commonName = 'Intermediate',
): Promise<Made> => {
  const pair = await newKeyPair(algorithm);
  const subject = { commonName, organization: 'Example' };
  const certificate = await makeIntermediate(subject, pair.publicKey, issuerOf(parent), {
    ...days(1825),
    maxPathLength: 0,
  });
  return made(certificate, pair);
};

/** A certificate of a server. */
export const newLeaf = async (
  parent: Made,
  { algorithm = 'ec-p256' as KeyAlgorithm, commonName = 'shop.example.com', lastsDays = 90 } = {},
): Promise<Made> => {
  const pair = await newKeyPair(algorithm);
  const certificate = await makeCertificate({ commonName }, pair.publicKey, issuerOf(parent), {
    ...days(lastsDays),
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: commonName },
        { type: 'dns', value: '*.example.org' },
        { type: 'ip', value: '192.0.2.7' },
        { type: 'email', value: 'ops@example.com' },
        { type: 'url', value: 'https://example.com/shop' },
      ]),
    ],
  });
  return made(certificate, pair);
};

/** A certificate request for a new key, as PEM. */
export async function newRequest(commonName: string): Promise<string> {
  const { privateKey, publicKey } = await newKeyPair('ec-p256');
  const { key, algorithm } = await signerOf(privateKey);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: `CN=${commonName}`,
    keys: { privateKey: key, publicKey: await verifierOf(publicKey) },
    signingAlgorithm: algorithm,
  });
  return toPem('CERTIFICATE REQUEST', Buffer.from(request.rawData));
}
