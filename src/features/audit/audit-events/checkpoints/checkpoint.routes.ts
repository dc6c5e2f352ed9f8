import * as z from 'zod';
import { boundedPaging, type Route, routesAt } from '../../../../rest/route.js';
import { CreateCheckpoint } from './checkpoint.rules.js';

const checkpoints = routesAt('/api/v1/audit-checkpoints', {
  select: 'id organizationId number firstEvent eventCount digest previous publicKey signature createdAt',
});

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
