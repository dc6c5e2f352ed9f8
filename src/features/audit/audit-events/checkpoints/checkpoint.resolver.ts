import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../../kernel/paging.js';
import { CreateCheckpoint, ListCheckpoints } from './checkpoint.rules.js';
import type { CheckpointService } from './checkpoint.service.js';
import { AuditCheckpointConnection, AuditCheckpointType, toCheckpoint } from './checkpoint.type.js';

@Resolver(() => AuditCheckpointType)
export class CheckpointResolver {
  constructor(private readonly service: CheckpointService) {}

  @query(
    AuditCheckpointConnection,
    ListCheckpoints,
    'Lists the signed checkpoints of the audit trail of the organization, oldest first. A job makes one every hour if there are new events.',
  )
  async auditCheckpoints(ctx: Context, args: object): Promise<ConnectionOf<AuditCheckpointType>> {
    return (await this.service.list(ctx, args)).show(toCheckpoint);
  }

  @mutation(
    CreateCheckpoint,
    { auditCheckpoint: [AuditCheckpointType, 'The checkpoint.'] },
    'Makes a checkpoint of the audit trail of the organization now. It covers the events that no other checkpoint covers, but for those of the last two seconds.',
  )
  async createAuditCheckpoint(ctx: Context, input: object): Promise<{ auditCheckpoint: AuditCheckpointType }> {
    return { auditCheckpoint: toCheckpoint(await this.service.create(ctx, input)) };
  }
}
