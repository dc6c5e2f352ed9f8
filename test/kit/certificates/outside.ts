import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import {
  BasicConstraintsExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { newKeyPair, privateKeyPem, signerOf } from '../../../src/features/certificates/x509/keys.js';
import { makeRoot } from '../../../src/features/certificates/x509/making.js';
import { toPem } from '../../../src/features/certificates/x509/pem.js';
import { days } from './material.js';

interface Wanted {
  readonly isCa?: boolean;
  readonly usage?: 'sign' | 'none';
  readonly lastsDays?: number;
  readonly rootPathLength?: number | null;
  /** Beside those that make it an authority. */
  readonly extensions?: readonly Extension[];
  /** In place of that of the request. */
  readonly subject?: string;
}

/** Answers the request of an authority as a new root outside of the service does. */
export async function signRequest(
  request: string,
  { isCa = true, usage = 'sign', lastsDays = 90, rootPathLength = null, extensions = [], subject }: Wanted = {},
): Promise<{ readonly certificate: string; readonly root: string; readonly key: string }> {
  const pair = await newKeyPair('ec-p256');
  const root = await makeRoot({ commonName: 'Outside' }, pair, { ...days(365), maxPathLength: rootPathLength });
  const { key, algorithm } = await signerOf(pair.privateKey);
  const { subjectName, publicKey } = new Pkcs10CertificateRequest(request);
  const made = await X509CertificateGenerator.create({
    subject: subject ?? subjectName,
    issuer: 'CN=Outside',
    publicKey,
    signingKey: key,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + lastsDays * 86_400_000 - 1_000),
    extensions: [
      new BasicConstraintsExtension(isCa, isCa ? 0 : undefined, true),
      new KeyUsagesExtension(usage === 'sign' ? KeyUsageFlags.keyCertSign : KeyUsageFlags.digitalSignature, true),
      ...extensions,
    ],
  });
  return {
    certificate: toPem('CERTIFICATE', new X509Certificate(Buffer.from(made.rawData)).raw),
    root: toPem('CERTIFICATE', root.raw),
    key: privateKeyPem(pair.privateKey),
  };
}
