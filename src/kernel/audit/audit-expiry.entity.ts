import { defineEntity, p } from '@mikro-orm/core';

const StoredAuditPartitionSchema = defineEntity({
  name: 'StoredAuditPartition',
  tableName: 'audit_partition',
  properties: {
    expiresOn: p.date().primary(),
  },
});

/** A month that rows of the audit trail can end in: they have a partition, which is dropped when it begins. */
export class StoredAuditPartition extends StoredAuditPartitionSchema.class {}
StoredAuditPartitionSchema.setClass(StoredAuditPartition);

const StoredAuditExpirySchema = defineEntity({
  name: 'StoredAuditExpiry',
  tableName: 'audit_expiry',
  properties: {
    expiresOn: p.date().primary(),
    rows: p.bigint('string'),
    digest: p.blob(),
    expiredAt: p.datetime(3),
    mac: p.blob(),
  },
});

/** A signed statement about the rows of a month that were dropped. */
export class StoredAuditExpiry extends StoredAuditExpirySchema.class {}
StoredAuditExpirySchema.setClass(StoredAuditExpiry);
