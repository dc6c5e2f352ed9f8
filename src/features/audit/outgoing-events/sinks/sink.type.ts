import { Field, Float, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../../kernel/graphql/page.js';
import { DeliveryStatusType, statusOf } from '../engine/status.type.js';
import type { SinkRow } from './sink.queries.js';
import { SINK_KINDS, SinkHeader, type SinkKind, sinkKind } from './sink.rules.js';

const SinkKindEnum = enumType<SinkKind>('AuditSinkKind', 'Kinds of audit sinks.', SINK_KINDS, sinkKind);
inputType('AuditSinkHeaderInput', SinkHeader);

/** What the API shows of a sink. */
@ObjectType('AuditSink', {
  implements: Node,
  description: 'A system that gets the audit trail of an organization, in order and without gaps.',
  simpleResolvers: true,
})
export class AuditSinkType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'Name of the sink, unique in the organization.' })
  name!: string;

  @Field(() => SinkKindEnum, { description: 'Form of the requests.' })
  kind!: SinkKind;

  @Field(() => String, {
    description:
      'Scheme, host and port of the URL, for example `https://collector.example.com`. The rest may contain credentials and is not shown.',
  })
  origin!: string;

  @Field(() => Boolean, { description: 'Whether the sink gets records.' })
  enabled!: boolean;

  @Field(() => DeliveryStatusType, { description: 'How far it has received the trail.' })
  delivery!: DeliveryStatusType;

  @Field(() => Float, {
    description: 'Number of records that a collector accepted and did not store, as its responses said.',
  })
  rejectedRecords!: number;

  @Field(() => DateTime, { description: 'When the sink was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the sink was last changed.' })
  updatedAt!: Date;
}

export const AuditSinkConnection = countedConnectionOf(AuditSinkType, 'AuditSink', 'name');

/** A row as the API shows it. */
export const toSink = (row: SinkRow): AuditSinkType => ({
  ...row,
  enabled: row.isEnabled,
  rejectedRecords: Number(row.rejectedRecords),
  delivery: statusOf(row),
});
