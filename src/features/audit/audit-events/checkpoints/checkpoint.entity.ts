import { defineEntity, p } from '@mikro-orm/core';

export const AuditCheckpointSchema = defineEntity({
  name: 'AuditCheckpoint',
  tableName: 'audit_checkpoint',
  uniques: [{ name: 'audit_checkpoint_number_unique', properties: ['organizationId', 'number'] }],
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    number: p.integer(),
    firstEvent: p.bigint('string'),
    eventCount: p.integer(),
    lastSequence: p.bigint('string'),
    digest: p.blob().$type<Buffer>(),
    previous: p.blob().$type<Buffer>(),
    publicKey: p.blob().$type<Buffer>(),
    signature: p.blob().$type<Buffer>(),
    createdAt: p.datetime(3),
  },
});

/** A signed account of the events of an organization since the one before, only ever added. */
export class AuditCheckpoint extends AuditCheckpointSchema.class {}
AuditCheckpointSchema.setClass(AuditCheckpoint);
