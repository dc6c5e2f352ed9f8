import { type GraphQLOperation, powerless, viewer } from '../operation.js';

/** Reading the audit trail. */
export const auditEvents: readonly GraphQLOperation[] = [
  {
    field: 'auditEvents',
    args: { projectId: '$project', actions: ['secret:get'], outcome: 'ALLOWED' },
    audit: 'audit-event:list',
    denial: powerless('audit-logs:read'),
    saysNoOf: ['project'],
  },
  {
    field: 'whatChanged',
    args: { projectId: '$project', since: '2026-01-31T12:00:00.000Z' },
    audit: 'audit-event:list-changes',
    denial: powerless('audit-logs:read'),
  },
  { field: 'auditCheckpoints', audit: 'audit-checkpoint:list', denial: viewer('audit-logs:read') },
  {
    field: 'createAuditCheckpoint',
    args: { maxEvents: 10 },
    audit: 'audit-checkpoint:create',
    denial: viewer('audit-logs:read'),
  },
];
