import { defineEntity, p } from '@mikro-orm/core';
import type { AttemptState } from './states.js';

/** Why an attempt was begun. */
export const ATTEMPT_REASONS = ['creation', 'adoption', 'schedule', 'manual', 'reconciliation'] as const;
export type AttemptReason = (typeof ATTEMPT_REASONS)[number];

const AttemptSchema = defineEntity({
  name: 'SecretRotationAttempt',
  tableName: 'secret_rotation_attempt',
  uniques: [{ name: 'secret_rotation_attempt_number_unique', properties: ['rotationId', 'number'] }],
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    /** Null once the rotation is gone: what came of its creation is still asked for. */
    rotationId: p.uuid().nullable(),
    /** Counts the attempts of the rotation. */
    number: p.integer(),
    reason: p.text().$type<AttemptReason>(),
    state: p.text().$type<AttemptState>(),
    /** How often the outside system was asked. */
    calls: p.integer().default(0),
    /** How often it had a new candidate. Candidate and result are sealed for it. */
    candidateVersion: p.integer().default(0),
    /** What it is called outside. Never used again. */
    name: p.text(),
    candidateSealed: p.blob(),
    resultSealed: p.blob().nullable(),
    /** What was given at the creation only, until it has ended. */
    temporarySealed: p.blob().nullable(),
    /** Digest of what no other attempt may change at the same time. */
    exclusive: p.blob().nullable(),
    calledAt: p.datetime(3).nullable(),
    /** Look-ups and checks that failed. */
    tries: p.integer().default(0),
    errorCode: p.text().nullable(),
    messageSealed: p.blob().nullable(),
    actorKind: p.text(),
    actorId: p.uuid(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    endedAt: p.datetime(3).nullable(),
  },
});

/** One run of a rotation: what was intended, how far it came, and how it ended. Source: reliability P6. */
export class SecretRotationAttempt extends AttemptSchema.class {}
AttemptSchema.setClass(SecretRotationAttempt);
