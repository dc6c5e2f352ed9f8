import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../ids.js';

export const StoredIdempotencyKeySchema = defineEntity({
  name: 'StoredIdempotencyKey',
  tableName: 'idempotency_key',
  uniques: [{ name: 'idempotency_key_unique', properties: ['tokenId', 'keyHash'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    tokenId: p.uuid(),
    keyHash: p.blob(),
    requestHash: p.blob().$type<Buffer>(),
    requestId: p.uuid(),
    fence: p.integer().default(1),
    claimedAt: p.datetime(3).defaultRaw('now()'),
    effectiveAt: p.datetime(3).nullable(),
    answeredAt: p.datetime(3).nullable(),
    answerSealed: p.blob().$type<Buffer>().nullable(),
    isWithheld: p.boolean().default(false),
    withheldIds: p.array().columnType('uuid[]').defaultRaw(`'{}'::uuid[]`),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A request that came with an idempotency key. Key and request are hashed, its response is sealed. */
export class StoredIdempotencyKey extends StoredIdempotencyKeySchema.class {}
StoredIdempotencyKeySchema.setClass(StoredIdempotencyKey);
