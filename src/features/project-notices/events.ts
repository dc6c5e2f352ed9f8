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

/** What happens to a rotation that a project is notified of. */
export type RotationTrouble = 'failed' | 'paused' | 'undecided';

const ROTATION_STATES: Readonly<Record<RotationTrouble, string>> = {
  failed: 'It is tried again by itself, if automatic rotation is on.',
  paused: 'Automatic rotation is paused, so that no account gets locked. Rotate it by hand to go on.',
  undecided: 'Nobody can tell which password works. Both are kept; reconcile the rotation.',
};

/**
 * Notifies a project that a rotation failed: once for each credential that it has published, and once more when it is paused or cannot be
 * decided, since its retries would flood the channels.
 */
export const notifyOfFailedRotation = (
  tx: Transaction,
  {
    rotationId,
    name,
    generation,
    trouble,
    message,
    ...owner
  }: InProject & {
    readonly rotationId: string;
    readonly name: string;
    readonly generation: number;
    readonly trouble: RotationTrouble;
    readonly message: string;
  },
): Promise<void> =>
  notify(tx, 'rotation-failure', [
    {
      ...owner,
      subjectId: rotationId,
      occurrence: `${trouble} ${generation}`,
      facts: { name, fields: { Error: message, State: ROTATION_STATES[trouble] } },
    },
  ]);
