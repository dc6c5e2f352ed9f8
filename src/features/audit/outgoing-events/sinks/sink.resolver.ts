import { Float, ID, Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import { type CountedConnectionOf, counted } from '../../../../kernel/paging.js';
import { bodyOf, inWords, routesAt } from '../../../../rest/route.js';
import { DeliveryStatusType, DeliveryTestType, statusOf } from '../engine/status.type.js';
import type { SinkRow } from './sink.queries.js';
import {
  ANYWHERE,
  ListSinks,
  OneSink,
  SINK_KINDS,
  SinkHeader,
  type SinkKind,
  type SinkRules,
  sinkKind,
} from './sink.rules.js';
import type { SinkService } from './sink.service.js';

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
    isEnabled: [Boolean, 'Whether the sink gets records.'],
    delivery: [DeliveryStatusType, 'How far it has received the trail.'],
    rejectedRecords: [Float, 'Number of records that a collector accepted and did not store, as its responses said.'],
    createdAt: [DateTime, 'When the sink was created.'],
    updatedAt: [DateTime, 'When the sink was last changed.'],
  },
  { implements: Node },
);
export type AuditSinkType = InstanceType<typeof AuditSinkType>;

const AuditSinkConnection = connectionOf(AuditSinkType, 'AuditSink', 'name');

/** A row as the API shows it. */
export const toSink = (row: SinkRow): AuditSinkType => ({
  ...row,
  rejectedRecords: Number(row.rejectedRecords),
  delivery: statusOf(row),
});

const RIGHTS = 'Requires `read` on `audit-logs` and `edit` on `settings` of the organization.';

const CreateAuditSinkPayload = objectType('CreateAuditSinkPayload', 'Result of `createAuditSink`.', {
  auditSink: [AuditSinkType, 'The created sink.'],
  signingSecret: [
    orNull(String),
    'Secret that signs the requests of a webhook. It is not shown again. Null for a collector.',
  ],
});
type CreateAuditSinkPayload = InstanceType<typeof CreateAuditSinkPayload>;

@Resolver(() => AuditSinkType)
export class SinkResolver {
  constructor(private readonly service: SinkService) {}

  @query(AuditSinkConnection, ListSinks, 'Lists the audit sinks of your organization, by name.')
  async auditSinks(ctx: Context, args: object): Promise<CountedConnectionOf<AuditSinkType>> {
    const { page, totalCount } = await this.service.list(ctx, args);
    return counted(page.show(toSink), totalCount);
  }

  @query(AuditSinkType, OneSink, 'Returns an audit sink by its ID.')
  async auditSink(ctx: Context, args: object): Promise<AuditSinkType> {
    return toSink(await this.service.get(ctx, args));
  }

  @mutation(
    ANYWHERE.create,
    CreateAuditSinkPayload,
    `Creates a sink that gets the audit trail of your organization from now on. ${RIGHTS}`,
  )
  async createAuditSink(ctx: Context, input: object): Promise<CreateAuditSinkPayload> {
    const { sink, signingSecret } = await this.service.create(ctx, input);
    return { auditSink: toSink(sink), signingSecret };
  }

  @mutation(
    ANYWHERE.update,
    { auditSink: [AuditSinkType, 'The updated sink.'] },
    `Updates, enables or disables an audit sink. ${RIGHTS}`,
  )
  async updateAuditSink(ctx: Context, input: object): Promise<{ auditSink: AuditSinkType }> {
    return { auditSink: toSink(await this.service.update(ctx, input)) };
  }

  @mutation(
    OneSink,
    { auditSink: [AuditSinkType, 'The deleted sink.'] },
    `Deletes an audit sink. Records that it has not received are not sent. ${RIGHTS}`,
  )
  async deleteAuditSink(ctx: Context, input: object): Promise<{ auditSink: AuditSinkType }> {
    return { auditSink: toSink(await this.service.delete(ctx, input)) };
  }

  @mutation(
    OneSink,
    { result: [DeliveryTestType, 'The result.'] },
    `Sends a test to an audit sink once and waits up to 10 seconds for the response. ${RIGHTS}`,
  )
  async testAuditSink(ctx: Context, input: object): Promise<{ result: DeliveryTestType }> {
    return { result: await this.service.test(ctx, input) };
  }
}

/** Fields that REST calls otherwise. */
const WORDS = { enabled: 'isEnabled' } as const;
const SINK = 'id organizationId name kind origin enabled: isEnabled *';
const NOT_FOUND = ['AUDIT_SINK_NOT_FOUND'] as const;

/** Audit sinks of the organization of the token. */
export function sinkRoutes(rules: SinkRules) {
  const sinks = routesAt('/api/v1/organization/audit-sinks', { select: SINK, words: WORDS });
  return [
    sinks.post('', 'Create an audit sink', {
      field: 'createAuditSink',
      sensitive: true,
      body: inWords(rules.create, WORDS),
      select: `auditSink { ${SINK} } signingSecret`,
      errors: ['AUDIT_SINK_NAME_TAKEN', 'AUDIT_SINKS_FULL'],
      example: {
        ...{ name: 'collector', kind: 'otlp', url: 'https://collector.example.com/v1/logs' },
        headers: [{ name: 'Authorization', value: 'Bearer eyJhbGciOi' }],
      },
    }),
    sinks.get('', 'List the audit sinks of the organization', { field: 'auditSinks' }),
    sinks.get('/{sinkId}', 'Get an audit sink', { field: 'auditSink', errors: NOT_FOUND }),
    sinks.patch('/{sinkId}', 'Update an audit sink', {
      field: 'updateAuditSink',
      body: inWords(bodyOf(rules.update, 'id'), WORDS),
      errors: [...NOT_FOUND, 'AUDIT_SINK_NAME_TAKEN'],
      example: { name: 'old collector', enabled: false },
    }),
    sinks.delete('/{sinkId}', 'Delete an audit sink', { field: 'deleteAuditSink', errors: NOT_FOUND }),
    sinks.post('/{sinkId}/test', 'Send a test to an audit sink', {
      field: 'testAuditSink',
      select: '*',
      errors: NOT_FOUND,
    }),
  ];
}
