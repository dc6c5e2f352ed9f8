import 'reflect-metadata';
import type { KeyObject } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  type JsonGeneralNames,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509';
import {
  type KeyAlgorithm,
  type KeyPair,
  newKeyPair,
  signerOf,
  verifierOf,
} from '../../../src/features/certificates/x509/keys.js';
import { toPem } from '../../../src/features/certificates/x509/pem.js';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import type { SharedStrongroom } from '../../kit/strongroom.js';
import { CERTIFICATES, makeAuthority, seedProject } from './kit.js';

export const PROFILES = '/api/v1/cert-manager/certificate-profiles';
export const REQUESTS = '/api/v1/cert-manager/certificate-requests';

// biome-ignore lint/suspicious/noExplicitAny: as replies have them
type Any = any;

/** A project with a root and a profile that allows names below example.com. */
export async function seedProfile(
  strongroom: SharedStrongroom,
  profile: Readonly<Record<string, unknown>> = {},
  authority: Readonly<Record<string, unknown>> = {},
): Promise<{ admin: Caller; project: { id: string }; root: Any; profile: Any }> {
  const { admin, project } = await seedProject(strongroom);
  const root = await makeAuthority(admin, project.id, authority);
  return { admin, project, root, profile: await makeProfile(admin, { project, root }, profile) };
}

/** A profile, as replies have it. */
export const makeProfile = async (
  admin: Caller,
  { project, root }: { project: { id: string }; root: { id: string } },
  body: Readonly<Record<string, unknown>> = {},
): Promise<Any> =>
  mustSucceed(await admin.post(PROFILES, { projectId: project.id, slug: 'web', authorityId: root.id, ...body })).body
    .certificateProfile;

/** What is asked for by whoever does not care. */
export const SHOP = {
  subject: { commonName: 'shop.example.com' },
  sans: [{ kind: 'dns', value: 'shop.example.com' }],
};

/** Issues a certificate, as replies have it. */
export const issue = async (
  admin: Caller,
  profileId: string,
  body: Readonly<Record<string, unknown>> = SHOP,
): Promise<Any> => mustSucceed(await admin.post(`${CERTIFICATES}/issue`, { profileId, ...body })).body.certificate;

/** Renews a certificate, as replies have it. */
export const renew = async (
  admin: Caller,
  certificateId: string,
  body: Readonly<Record<string, unknown>> = {},
): Promise<Any> => mustSucceed(await admin.post(`${CERTIFICATES}/${certificateId}/renew`, body)).body.certificate;

/** The PEM of a certificate, of its chain, and of its key where that is here. */
export async function contentOf(admin: Caller, certificateId: string): Promise<Record<string, string>> {
  const path = `${CERTIFICATES}/${certificateId}`;
  const { certificate, certificateChain } = mustSucceed(await admin.get(`${path}/pem`)).body;
  const key = await admin.get(`${path}/private-key`);
  return { certificate, chain: certificateChain, ...(key.status === 200 ? { key: key.body.privateKey } : {}) };
}

interface RequestedContent {
  readonly algorithm?: KeyAlgorithm;
  readonly pair?: KeyPair;
  readonly name?: string;
  readonly sans?: JsonGeneralNames;
  readonly usages?: number;
  readonly extended?: readonly string[];
  readonly isCa?: boolean;
  /** The common name, as it stands. */
  readonly commonName?: string;
  /** In DER. */
  readonly basicConstraints?: Buffer;
  /** Signs in place of its own key. */
  readonly signedBy?: KeyObject;
}

/** A certificate request with its key, both as PEM. */
export async function newCsr({
  algorithm = 'ec-p256',
  name = 'CN=shop.example.com',
  sans = [{ type: 'dns', value: 'shop.example.com' }],
  ...wanted
}: RequestedContent = {}): Promise<{ csr: string; key: string; pair: KeyPair }> {
  const pair = wanted.pair ?? (await newKeyPair(algorithm));
  const signer = await signerOf(wanted.signedBy ?? pair.privateKey);
  const extensions: Extension[] = [];
  if (sans.length > 0) extensions.push(new SubjectAlternativeNameExtension(sans));
  if (wanted.usages !== undefined) extensions.push(new KeyUsagesExtension(wanted.usages));
  if (wanted.extended !== undefined) extensions.push(new ExtendedKeyUsageExtension([...wanted.extended]));
  if (wanted.isCa !== undefined) extensions.push(new BasicConstraintsExtension(wanted.isCa));
  if (wanted.basicConstraints !== undefined) extensions.push(new Extension('2.5.29.19', true, wanted.basicConstraints));
  const { commonName } = wanted;
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: commonName === undefined ? name : new Name([{ CN: [{ utf8String: commonName }] }] as unknown as JsonName),
    keys: { privateKey: signer.key, publicKey: await verifierOf(pair.publicKey) },
    signingAlgorithm: signer.algorithm,
    extensions,
  });
  return {
    csr: toPem('CERTIFICATE REQUEST', Buffer.from(request.rawData)),
    key: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    pair,
  };
}

/** How many days a certificate lasts. */
export const lifeOf = ({ notBefore, notAfter }: Readonly<Record<string, string>>): number =>
  (Date.parse(notAfter as string) - Date.parse(notBefore as string)) / 86_400_000;

/** Where a request is refused. */
export const pathsOf = ({ body }: Reply): string[] => body.details.map(({ path }: { path: string }) => path);

/** Requests for certificates of a project, newest first. */
export const requestsOf = async (admin: Caller, projectId: string, query = ''): Promise<Any[]> =>
  mustSucceed(await admin.get(`${REQUESTS}?projectId=${projectId}${query}`)).body.certificateRequests;

export { KeyUsageFlags };
