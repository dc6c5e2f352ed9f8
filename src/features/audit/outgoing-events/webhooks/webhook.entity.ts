import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../../../kernel/database/columns.js';
import { targetColumns } from '../engine/target.js';

export const ChangeWebhookSchema = defineEntity({
  name: 'ChangeWebhook',
  tableName: 'change_webhook',
  uniques: [{ name: 'change_webhook_name_unique', properties: ['projectId', 'name'] }],
  properties: {
    ...projectColumns,
    ...targetColumns,
    kinds: p.array().columnType('text[]').defaultRaw(`'{}'::text[]`),
    environment: p.text().nullable(),
    secretPath: p.text().nullable(),
  },
});

/** A webhook that gets the changes of a project. Its URL and secrets are sealed for this row and `configVersion`. */
export class ChangeWebhook extends ChangeWebhookSchema.class {}
ChangeWebhookSchema.setClass(ChangeWebhook);
