import { defineEntity, p } from '@mikro-orm/core';
import type { NoticeFacts, NoticeKind } from './notice.rules.js';

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

export const NoticeSchema = defineEntity({
  name: 'Notice',
  tableName: 'notice',
  uniques: [{ name: 'notice_key', properties: ['ownerId', 'kind', 'subjectId', 'occurrence'] }],
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid().nullable(),
    ownerId: p.uuid(),
    kind: p.text().$type<NoticeKind>(),
    subjectId: p.uuid(),
    occurrence: p.text(),
    facts: p.json<NoticeFacts>(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    toldAt: p.datetime(3).nullable(),
  },
});

/** An event that a project or an organization is notified of once. It holds no secret value. */
export class Notice extends NoticeSchema.class {}
NoticeSchema.setClass(Notice);
