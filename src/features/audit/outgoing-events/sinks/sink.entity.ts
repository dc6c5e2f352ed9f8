import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../../kernel/database/columns.js';
import { targetColumns } from '../engine/target.js';
import type { SinkKind } from './sink.rules.js';

export const AuditSinkSchema = defineEntity({
  name: 'AuditSink',
  tableName: 'audit_sink',
  uniques: [{ name: 'audit_sink_name_unique', properties: ['organizationId', 'name'] }],
  properties: { ...organizationColumns, ...targetColumns, kind: p.text().$type<SinkKind>() },
});

/** A system that gets the audit trail of an organization. Its URL and headers are sealed for this row and `configVersion`. */
export class AuditSink extends AuditSinkSchema.class {}
AuditSinkSchema.setClass(AuditSink);
