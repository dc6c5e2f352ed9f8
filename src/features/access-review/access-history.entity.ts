import { defineEntity, p } from '@mikro-orm/core';

export const AccessHistorySchema = defineEntity({
  name: 'AccessHistory',
  tableName: 'access_history',
  properties: {
    sequence: p.bigint('string').primary().generated('identity'),
    organizationId: p.uuid(),
    projectId: p.uuid().nullable(),
    source: p.text(),
    rowId: p.uuid(),
    content: p.json<unknown>(),
    validFrom: p.datetime(6),
    validTo: p.datetime(6).nullable(),
  },
});

/**
 * A row of memberships, groups, roles or privileges as it was for a time, or the metadata of a machine identity. Triggers on these
 * tables write it.
 */
export class AccessHistory extends AccessHistorySchema.class {}
AccessHistorySchema.setClass(AccessHistory);
