import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../../../../kernel/context.js';
import type { AttemptState } from './states.js';

/** Why an attempt was started. */
export type AttemptReason = 'creation' | 'adoption' | 'schedule' | 'manual' | 'reconciliation';

export const AttemptSchema = defineEntity({
  name: 'SecretRotationAttempt',
  tableName: 'secret_rotation_attempt',
  uniques: [{ name: 'secret_rotation_attempt_number_unique', properties: ['rotationId', 'number'] }],
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    /** Null after the rotation was deleted: the result of its creation is still queried. */
    rotationId: p.uuid().nullable(),
    /** Number of the attempt within its rotation. */
    number: p.integer(),
    reason: p.text().$type<AttemptReason>(),
    state: p.text().$type<AttemptState>(),
    /** Number of calls to the external system. */
    calls: p.integer().default(0),
    /** Number of replaced candidates. Candidate and result are sealed for it. */
    candidateVersion: p.integer().default(0),
    /** External name. Never reused. */
    name: p.text(),
    candidateSealed: p.blob(),
    resultSealed: p.blob().nullable(),
    /** Temporary parameters of the creation, until it has ended. */
    temporarySealed: p.blob().nullable(),
    /** Digest of what no other attempt may change at the same time. */
    exclusive: p.blob().nullable(),
    calledAt: p.datetime(3).nullable(),
    /** Failed look-ups and checks. */
    tries: p.integer().default(0),
    errorCode: p.text().nullable(),
    messageSealed: p.blob().nullable(),
    actorKind: p.text().$type<Actor['kind']>(),
    actorId: p.uuid(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    endedAt: p.datetime(3).nullable(),
  },
});

/** One run of a rotation: its intent, state and result. */
export class SecretRotationAttempt extends AttemptSchema.class {}
AttemptSchema.setClass(SecretRotationAttempt);
