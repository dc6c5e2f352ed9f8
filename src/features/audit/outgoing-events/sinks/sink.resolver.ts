import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../../kernel/paging.js';
import { DeliveryTestType } from '../engine/status.type.js';
import { ANYWHERE, ListSinks, OneSink } from './sink.rules.js';
import type { SinkService } from './sink.service.js';
import { AuditSinkConnection, AuditSinkType, toSink } from './sink.type.js';

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
