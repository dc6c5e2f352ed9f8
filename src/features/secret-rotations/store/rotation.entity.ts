import { defineEntity, type Opt, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';
import type { RotationType } from '../kinds/kinds.js';
import type { ScheduleExtras } from './timing.js';

/** What the specification calls `rotationStatus`. Source: decisions 9.2. */
export const ROTATION_STATUSES = ['success', 'failed', 'in_progress', 'needs_reconciliation', 'deleting'] as const;
export type RotationStatus = (typeof ROTATION_STATUSES)[number];

export const SecretRotationSchema = defineEntity({
  name: 'SecretRotation',
  tableName: 'secret_rotation',
  uniques: [{ name: 'secret_rotation_name_unique', properties: ['folderId', 'name'] }],
  properties: {
    ...projectColumns,
    environmentId: p.uuid(),
    folderId: p.uuid(),
    connectionId: p.uuid(),
    type: p.text().$type<RotationType>(),
    name: p.text(),
    description: p.text().nullable(),
    parameters: p.json<Readonly<Record<string, unknown>>>(),
    /** Which password rule the parameters name; null: none. It makes the rule stay. */
    passwordRule: p.text().$type<Opt<string>>().nullable().generated(`((parameters ->> 'passwordRule'::text)) stored`),
    /** Keys of the mapped secrets, by field. */
    secretsMapping: p.json<Readonly<Record<string, string>>>(),
    isAutoRotationEnabled: p.boolean(),
    /** In days. */
    rotationInterval: p.integer(),
    rotateAtHours: p.integer(),
    rotateAtMinutes: p.integer(),
    /** What a schedule may have beyond the specification. */
    schedule: p.json<ScheduleExtras>(),
    status: p.text().$type<RotationStatus>(),
    /** Which of the two slots is published. */
    activeIndex: p.integer().default(0),
    /** How many credentials it has published. */
    generation: p.integer().default(0),
    /** How many attempts it had. */
    attempts: p.integer().default(0),
    /** Failures since the last success. */
    failures: p.integer().default(0),
    /** How many of them in a row were refusals of our own credentials. */
    refusals: p.integer().default(0),
    /** Why automatic runs are paused; null when they are not. */
    pauseReason: p.text().nullable(),
    lastAttemptId: p.uuid().nullable(),
    lastAttemptedAt: p.datetime(3).nullable(),
    lastRotatedAt: p.datetime(3).nullable(),
    isLastManual: p.boolean().default(true),
    nextRotationAt: p.datetime(3).nullable(),
    /** When somebody has asked for it to run, together with others; null: nobody has. */
    requestedAt: p.datetime(3).nullable(),
    requesterKind: p.text().$type<'identity' | 'user'>().nullable(),
    requesterId: p.uuid().nullable(),
    /** What becomes of the mapped secrets of one that is being deleted. */
    isDeletingSecrets: p.boolean().default(false),
    version: p.integer().default(1),
  },
});

/** Replaces a credential in an outside system, and in the secrets that it is mapped to. Source: specification 16 to 18. */
export class SecretRotation extends SecretRotationSchema.class {}
SecretRotationSchema.setClass(SecretRotation);
