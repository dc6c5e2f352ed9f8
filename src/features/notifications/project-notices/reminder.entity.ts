import { defineEntity, p } from '@mikro-orm/core';

const SecretReminderSchema = defineEntity({
  name: 'SecretReminder',
  tableName: 'secret_reminder',
  properties: {
    secretId: p.uuid().primary(),
    organizationId: p.uuid(),
    dueAt: p.datetime(3),
  },
});

/** When the reminder of a secret is next due. Triggers of `secret` maintain it. */
export class SecretReminder extends SecretReminderSchema.class {}
SecretReminderSchema.setClass(SecretReminder);
