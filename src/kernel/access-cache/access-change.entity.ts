import { defineEntity, p } from '@mikro-orm/core';

const AccessChangeSchema = defineEntity({
  name: 'StoredAccessChange',
  tableName: 'access_change',
  properties: {
    transaction: p.string().columnType('xid8').primary().defaultRaw('pg_current_xact_id()'),
  },
});

/** The number of a transaction that changed what somebody may do. */
export class StoredAccessChange extends AccessChangeSchema.class {}
AccessChangeSchema.setClass(StoredAccessChange);
