import type { Transaction } from '../../kernel/context.js';
import { notify } from './notices.js';

interface InProject {
  readonly organizationId: string;
  readonly projectId: string;
}

/** Notifies a project that it was rescued. */
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
 * Notifies a project that a certificate could not be issued or renewed. A request for a new certificate that the profile refused causes
 * no notice. Others cause at most one a day per certificate (or profile) and reason, because retries of people and programs would flood
 * the channels.
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

/** Notifies projects, or with null the admins of the organization, that a connection fails: once until it works again. */
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

/** Rotation failures that a project is notified of. */
export type RotationTrouble = 'failed' | 'paused' | 'undecided';

const ROTATION_STATES: Readonly<Record<RotationTrouble, string>> = {
  failed: 'It is retried automatically if automatic rotation is on.',
  paused: 'Automatic rotation is paused so that no account gets locked out. Rotate manually to resume it.',
  undecided: 'It is unknown which password is valid. Both are stored; reconcile the rotation.',
};

/**
 * Notifies a project that a rotation failed: once per published credential, and once more when it is paused or undecided. Further notices
 * of retries would flood the channels.
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
