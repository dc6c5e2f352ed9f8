import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { type JsonName, Name, X509CertificateGenerator } from '@peculiar/x509';
import { newKeyPair, signerOf, verifierOf } from '../../../src/features/certificates/x509/keys.js';
import { toPem } from '../../../src/features/certificates/x509/pem.js';
import { days } from '../../kit/certificates/material.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { CERTIFICATES, seedProject } from './kit.js';

/** A certificate with whatever name and number, which no serious authority would issue. */
async function odd({ commonName = 'odd.example.com', serialNumber = '01' }): Promise<string> {
  const { privateKey, publicKey } = await newKeyPair('ec-p256');
  const { key, algorithm } = await signerOf(privateKey);
  const subject = new Name([{ CN: [{ utf8String: commonName }] }] as unknown as JsonName);
  const made = await X509CertificateGenerator.create({
    ...{ serialNumber, subject, issuer: subject, ...days(5), extensions: [] },
    ...{ publicKey: await verifierOf(publicKey), signingKey: key, signingAlgorithm: algorithm },
  });
  return toPem('CERTIFICATE', Buffer.from(made.rawData));
}

const ideographs = (count: number): string =>
  [...randomBytes(count)].map((byte, at) => String.fromCharCode(0x4e00 + byte * 80 + (at % 80))).join('');

describe('importing a certificate whose names are longer than an index takes', () => {
  const strongroom = useSharedStrongroom();

  test.each([
    ['a common name of three bytes for each character', { commonName: ideographs(1_000) }, 422],
    ['a serial number of 6,000 digits', { serialNumber: `7f${randomBytes(3_000).toString('hex')}` }, 422],
    ['but the longest common name is taken', { commonName: 'x'.repeat(1_024) }, 200],
  ])('%s', async (_, given, status) => {
    const { admin, project } = await seedProject(strongroom);
    const certificate = await odd(given);
    const response = await admin.post(`${CERTIFICATES}/import`, { projectId: project.id, certificate });
    expect(response.status).toBe(status);
  });
});
