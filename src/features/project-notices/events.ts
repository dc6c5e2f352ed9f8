import type { Transaction } from '../../kernel/context.js';
import { notify } from './notices.js';

interface InProject {
  readonly organizationId: string;
  readonly projectId: string;
}

/** Notifies a project that somebody rescued it. */
export const notifyOfRescue = (
  tx: Transaction,
  {
    rescueId,
    rescuer,
    reason,
    endsAt,
    ...owner
  }: InProject & {
    readonly rescueId: string;
    readonly rescuer: string;
    readonly reason: string;
    readonly endsAt: Date;
  },
): Promise<void> =>
  notify(tx, 'project-rescue', [
    {
      ...owner,
      subjectId: rescueId,
      occurrence: '',
      facts: { name: rescuer, fields: { Reason: reason, Until: endsAt.toISOString() } },
    },
  ]);

/**
 * Notifies a project that a certificate could not be issued or renewed, but not of a request for a new one that the profile refused, and
 * of a certificate, or of new ones of a profile, once a day for each reason: whoever tries things out, and a program that tries again and
 * again, would flood the channels.
 */
export const notifyOfFailedRequest = (
  tx: Transaction,
  {
    requestId,
    certificateId,
    profileId,
    day,
    commonName,
    event,
    code,
    organizationId,
    projectId,
  }: InProject & {
    readonly requestId: string;
    readonly certificateId: string | null;
    readonly profileId: string | null;
    readonly day: string;
    readonly commonName: string;
    readonly event: string;
    readonly code: string;
  },
): Promise<void> => {
  const facts = { name: commonName, fields: { Request: event, Error: code } };
  const subjectId = certificateId ?? profileId ?? requestId;
  const notice = { organizationId, projectId, subjectId, occurrence: `${code} ${day}`, facts };
  const isRefused = event === 'issuance' && code === 'VALIDATION_FAILED';
  return notify(tx, 'certificate-request-failure', isRefused ? [] : [notice]);
};

/** Notifies projects, or with null the admins of the organization, that a connection does not work any more: once, until it does again. */
export const notifyOfFailure = (
  tx: Transaction,
  {
    organizationId,
    projectIds,
    connectionId,
    name,
    app,
    code,
    since,
  }: {
    readonly organizationId: string;
    readonly projectIds: readonly (string | null)[];
    readonly connectionId: string;
    readonly name: string;
    readonly app: string;
    readonly code: string;
    readonly since: Date;
  },
): Promise<void> =>
  notify(
    tx,
    'connection-failure',
    projectIds.map((projectId) => ({
      organizationId,
      projectId,
      subjectId: connectionId,
      occurrence: since.toISOString(),
      facts: { name, fields: { App: app, Error: code, Since: since.toISOString() } },
    })),
  );
