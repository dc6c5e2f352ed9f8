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

/** When the reminder of a secret is due next. Triggers of `secret` make and remove it. */
export class SecretReminder extends SecretReminderSchema.class {}
SecretReminderSchema.setClass(SecretReminder);
