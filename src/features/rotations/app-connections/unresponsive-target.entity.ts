import { defineEntity, p } from '@mikro-orm/core';

export const UnresponsiveTargetSchema = defineEntity({
  name: 'UnresponsiveTarget',
  tableName: 'unresponsive_target',
  properties: {
    organizationId: p.uuid().primary(),
    target: p.text().primary(),
    since: p.datetime(3).defaultRaw('now()'),
    failedAt: p.datetime(3).defaultRaw('now()'),
    failures: p.integer().default(1),
    errorCode: p.text(),
    nextTryAt: p.datetime(3),
  },
});

/** An external system of an organization that did not respond to the last calls. It is left alone until `nextTryAt`. */
export class UnresponsiveTarget extends UnresponsiveTargetSchema.class {}
UnresponsiveTargetSchema.setClass(UnresponsiveTarget);
