import { Float, ID, Int, Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../../kernel/context.js';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../../kernel/paging.js';
import { boundedPaging, type Route, routesAt } from '../../../../rest/route.js';
import { CreateCheckpoint, ListCheckpoints } from './checkpoint.rules.js';
import { type CheckpointService, toCheckpoint } from './checkpoint.service.js';

const HASH = 'a94f6e0d1c7b5a3f8e2d4c6b9a1f0e3d5c7b9a8f6e4d2c0b1a3f5e7d9c8b6a40';
const KEY = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqo=';

/** What the API shows of a checkpoint. */
export const AuditCheckpointType = objectType(
  'AuditCheckpoint',
  'A signed account of the events of an organization since the checkpoint before. Keep checkpoints elsewhere: `npm run verify-export` then proves that an export was not changed.',
  {
    organizationId: [ID, 'ID of the organization.'],
    number: [Int, 'Number of the checkpoint. The checkpoints of an organization are numbered from 1.'],
    firstEvent: [Float, 'Place of its first event among all events of the organization, from 1.'],
    eventCount: [Int, 'Number of events that it covers.'],
    digest: [
      String,
      `SHA-256 of the lines of these events in an export, each with its line break, in hexadecimal, for example \`${HASH}\`.`,
    ],
    previous: [
      String,
      `Hash of the checkpoint before, in hexadecimal; zeros for the first one; for example \`${HASH}\`.`,
    ],
    publicKey: [
      String,
      `Public key of the installation (Ed25519, 32 bytes in base64), for example \`${KEY}\`. It stays the same when the root key is changed.`,
    ],
    signature: [String, `Signature (64 bytes in base64), for example \`${KEY}\`.`],
    createdAt: [DateTime, 'When it was made, by the clock of the database.'],
  },
  { implements: Node },
);
export type AuditCheckpointType = InstanceType<typeof AuditCheckpointType>;

const AuditCheckpointConnection = connectionOf(AuditCheckpointType, 'AuditCheckpoint', 'number');

@Resolver(() => AuditCheckpointType)
export class CheckpointResolver {
  constructor(private readonly service: CheckpointService) {}

  @query(
    AuditCheckpointConnection,
    ListCheckpoints,
    'Lists the signed checkpoints of the audit trail of the organization, oldest first. A job makes one every hour if there are new events.',
  )
  async auditCheckpoints(ctx: Context, args: object): Promise<CountedConnectionOf<AuditCheckpointType>> {
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

const checkpoints = routesAt('/api/v1/audit-checkpoints');

/** Signed checkpoints of the audit trail. */
export const checkpointRoutes: readonly Route[] = [
  checkpoints.get('', 'List the signed checkpoints of the audit trail, oldest first', {
    field: 'auditCheckpoints',
    query: z.strictObject(boundedPaging),
  }),
  checkpoints.post('', 'Make a signed checkpoint of the audit trail', {
    field: 'createAuditCheckpoint',
    body: CreateCheckpoint,
    example: { maxEvents: 20_000 },
  }),
];
