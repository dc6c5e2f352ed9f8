import { powerless, type RestOperation, viewer } from '../operation.js';

/** Reading the audit trail. */
export const auditEvents: readonly RestOperation[] = [
  {
    route: 'GET /api/v1/audit-events',
    query: { projectId: '$project', actions: 'secret:get', outcome: 'allowed' },
    audit: 'audit-event:list',
    denial: powerless('audit-logs:read'),
    saysNoOf: ['project'],
  },
  {
    route: 'GET /api/v1/organization/audit-logs',
    query: { projectId: '$project', eventType: 'secret:get' },
    audit: 'audit-event:list',
    denial: powerless('audit-logs:read'),
    saysNoOf: ['project'],
  },
  {
    route: 'GET /api/v1/projects/{projectId}/changes',
    path: { projectId: '$project' },
    query: { since: '2026-01-31T12:00:00.000Z' },
    audit: 'audit-event:list-changes',
    denial: powerless('audit-logs:read'),
  },
  { route: 'GET /api/v1/audit-checkpoints', audit: 'audit-checkpoint:list', denial: viewer('audit-logs:read') },
  {
    route: 'POST /api/v1/audit-checkpoints',
    body: { maxEvents: 10 },
    audit: 'audit-checkpoint:create',
    denial: viewer('audit-logs:read'),
  },
];
