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
 * An earlier state of a row of memberships, groups, roles or privileges, or of the metadata of a machine identity, with
 * its period. Written by triggers on these tables.
 */
export class AccessHistory extends AccessHistorySchema.class {}
AccessHistorySchema.setClass(AccessHistory);
