import { type Caller, mustSucceed } from '../../kit/caller.js';
import type { SeededProject } from '../../kit/seed.js';
import type { SharedStrongroom } from '../../kit/strongroom.js';

export const CA = '/api/v1/cert-manager/ca';
export const CERTIFICATES = '/api/v1/cert-manager/certificates';

/** An organization with a project that has certificates. */
export const seedProject = (
  strongroom: SharedStrongroom,
): Promise<{ organization: { id: string }; admin: Caller; project: SeededProject }> =>
  strongroom.seed.project({ type: 'cert-manager' });

/** A root, as requests have it, without its project. */
export const ROOT = { name: 'Root', kind: 'root', subject: { commonName: 'Example Root', organization: 'Example' } };
/** An authority that waits for one outside. */
export const PENDING = { name: 'Pending', kind: 'intermediate', subject: { commonName: 'Example Pending' } };

/** An authority, as replies have it. */
export const makeAuthority = async (
  admin: Caller,
  projectId: string,
  body: Readonly<Record<string, unknown>> = {},
  // biome-ignore lint/suspicious/noExplicitAny: as replies have it
): Promise<any> => mustSucceed(await admin.post(CA, { ...ROOT, projectId, ...body })).body.certificateAuthority;

/** Imports a certificate, and gives it as replies have it. */
export const importCertificate = async (
  admin: Caller,
  projectId: string,
  body: Readonly<Record<string, unknown>>,
  // biome-ignore lint/suspicious/noExplicitAny: as replies have it
): Promise<any> => mustSucceed(await admin.post(`${CERTIFICATES}/import`, { projectId, ...body })).body.certificate;
