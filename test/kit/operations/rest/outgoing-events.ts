import { CANARY } from '../../world.js';
import { type RestOperation, viewer } from '../operation.js';

const WEBHOOKS = '/api/v1/projects/{projectId}/change-webhooks';
const WEBHOOK = `${WEBHOOKS}/{webhookId}`;
const SINKS = '/api/v1/organization/audit-sinks';
const SINK = `${SINKS}/{sinkId}`;
const sink = { sinkId: '$auditSink' };
const denial = viewer('audit-logs:read');
const inProject = { projectId: '$project' };
const path = { ...inProject, webhookId: '$changeWebhook' };

/** Change webhooks of projects, and audit sinks of the organization. */
export const outgoingEvents: readonly RestOperation[] = [
  {
    route: `POST ${WEBHOOKS}`,
    path: inProject,
    body: { name: CANARY, url: `https://example.com/${CANARY}`, kinds: ['secret'], enabled: false },
    audit: 'change-webhook:create',
    denial: viewer('webhooks:create'),
  },
  { route: `GET ${WEBHOOKS}`, path: inProject, audit: 'change-webhook:list', denial: viewer('webhooks:read') },
  { route: `GET ${WEBHOOK}`, path, audit: 'change-webhook:get', denial: viewer('webhooks:read') },
  {
    route: `PATCH ${WEBHOOK}`,
    path,
    body: { name: `${CANARY}-renamed`, environment: 'dev' },
    audit: 'change-webhook:update',
    denial: viewer('webhooks:edit'),
  },
  {
    route: `POST ${WEBHOOK}/rotate-secret`,
    path,
    audit: 'change-webhook:rotate-secret',
    denial: viewer('webhooks:edit'),
  },
  { route: `POST ${WEBHOOK}/test`, path, audit: 'change-webhook:test', denial: viewer('webhooks:edit') },
  { route: `DELETE ${WEBHOOK}`, path, audit: 'change-webhook:delete', denial: viewer('webhooks:delete') },
  {
    route: `POST ${SINKS}`,
    body: { name: `${CANARY}-of-rest`, kind: 'webhook', url: `https://example.com/${CANARY}`, enabled: false },
    audit: 'audit-sink:create',
    denial,
  },
  { route: `GET ${SINKS}`, audit: 'audit-sink:list', denial },
  { route: `GET ${SINK}`, path: sink, audit: 'audit-sink:get', denial },
  {
    route: `PATCH ${SINK}`,
    path: sink,
    body: { headers: [{ name: 'Authorization', value: CANARY }] },
    audit: 'audit-sink:update',
    denial,
  },
  { route: `POST ${SINK}/test`, path: sink, audit: 'audit-sink:test', denial },
  { route: `DELETE ${SINK}`, path: sink, audit: 'audit-sink:delete', denial },
];
