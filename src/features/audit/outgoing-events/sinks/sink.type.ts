import { Float, ID } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../../kernel/graphql/page.js';
import { DeliveryStatusType, statusOf } from '../engine/status.type.js';
import type { SinkRow } from './sink.queries.js';
import { SINK_KINDS, SinkHeader, type SinkKind, sinkKind } from './sink.rules.js';

const SinkKindEnum = enumType<SinkKind>('AuditSinkKind', 'Kinds of audit sinks.', SINK_KINDS, sinkKind);
inputType('AuditSinkHeaderInput', SinkHeader);

/** What the API shows of a sink. */
export const AuditSinkType = objectType(
  'AuditSink',
  'A system that gets the audit trail of an organization, in order and without gaps.',
  {
    organizationId: [ID, 'ID of the organization.'],
    name: [String, 'Name of the sink, unique in the organization.'],
    kind: [SinkKindEnum, 'Form of the requests.'],
    origin: [
      String,
      'Scheme, host and port of the URL, for example `https://collector.example.com`. The rest may contain credentials and is not shown.',
    ],
    enabled: [Boolean, 'Whether the sink gets records.'],
    delivery: [DeliveryStatusType, 'How far it has received the trail.'],
    rejectedRecords: [Float, 'Number of records that a collector accepted and did not store, as its responses said.'],
    createdAt: [DateTime, 'When the sink was created.'],
    updatedAt: [DateTime, 'When the sink was last changed.'],
  },
  { implements: Node },
);
export type AuditSinkType = InstanceType<typeof AuditSinkType>;

export const AuditSinkConnection = countedConnectionOf(AuditSinkType, 'AuditSink', 'name');

/** A row as the API shows it. */
export const toSink = (row: SinkRow): AuditSinkType => ({
  ...row,
  enabled: row.isEnabled,
  rejectedRecords: Number(row.rejectedRecords),
  delivery: statusOf(row),
});
