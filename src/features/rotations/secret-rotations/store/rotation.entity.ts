import { defineEntity, type Opt, p } from '@mikro-orm/core';
import { projectColumns } from '../../../../kernel/database/columns.js';
import { AppConnection } from '../../app-connections/public.js';
import type { RotationType } from '../kinds/kinds.js';
import type { ScheduleExtras } from './timing.js';

/** Values of `rotationStatus`. */
export const ROTATION_STATUSES = ['success', 'failed', 'in_progress', 'needs_reconciliation', 'deleting'] as const;
export type RotationStatus = (typeof ROTATION_STATUSES)[number];

export const SecretRotationSchema = defineEntity({
  name: 'SecretRotation',
  tableName: 'secret_rotation',
  uniques: [
    { name: 'secret_rotation_name_unique', properties: ['folderId', 'name'] },
    { name: 'secret_rotation_account_unique', properties: ['organizationId', 'accountDigest'] },
  ],
  properties: {
    ...projectColumns,
    environmentId: p.uuid(),
    folderId: p.uuid(),
    connectionId: p.uuid(),
    connection: () => p.manyToOne(AppConnection).joinColumn('connection_id').persist(false),
    /** Keyed digest of the account that it owns, as `digestOfAccount` makes it. Null: none, or it is not known. */
    accountDigest: p.blob().nullable(),
    type: p.text().$type<RotationType>(),
    name: p.text(),
    description: p.text().nullable(),
    parameters: p.json<Readonly<Record<string, unknown>>>(),
    /** The password rule in the parameters; null: none. A foreign key prevents its deletion. */
    passwordRule: p.text().$type<Opt<string>>().nullable().generated(`((parameters ->> 'passwordRule'::text)) stored`),
    /** Keys of the mapped secrets, by field. */
    secretsMapping: p.json<Readonly<Record<string, string>>>(),
    isAutoRotationEnabled: p.boolean(),
    /** In days. */
    rotationInterval: p.integer(),
    rotateAtHours: p.integer(),
    rotateAtMinutes: p.integer(),
    /** Schedule settings besides interval and time of day. */
    schedule: p.json<ScheduleExtras>(),
    status: p.text().$type<RotationStatus>(),
    /** Slot of the published credential. */
    activeIndex: p.integer().default(0),
    /** Number of published credentials. */
    generation: p.integer().default(0),
    /** Number of attempts. */
    attempts: p.integer().default(0),
    /** Failures since the last success. */
    failures: p.integer().default(0),
    /** Consecutive rejections of our own credentials among them. */
    refusals: p.integer().default(0),
    /** Why automatic rotation is paused; null if it is not. */
    pauseReason: p.text().nullable(),
    lastAttemptId: p.uuid().nullable(),
    lastAttemptedAt: p.datetime(3).nullable(),
    lastRotatedAt: p.datetime(3).nullable(),
    isLastManual: p.boolean().default(true),
    nextRotationAt: p.datetime(3).nullable(),
    /** When it was requested to run together with others; null: it was not. */
    requestedAt: p.datetime(3).nullable(),
    requesterKind: p.text().$type<'identity' | 'user'>().nullable(),
    requesterId: p.uuid().nullable(),
    /** What happens to the mapped secrets when the rotation is deleted. */
    isDeletingSecrets: p.boolean().default(false),
    version: p.integer().default(1),
  },
});

/** Replaces a credential in an external system, and in the mapped secrets. */
export class SecretRotation extends SecretRotationSchema.class {}
SecretRotationSchema.setClass(SecretRotation);
