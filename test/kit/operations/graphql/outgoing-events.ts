import { CANARY } from '../../world.js';
import { type GraphQLOperation, viewer } from '../operation.js';

const webhook = { id: '$changeWebhook' };
const sink = { id: '$auditSink' };
const denial = viewer('audit-logs:read');

/** Change webhooks of projects, and audit sinks of the organization. */
export const outgoingEvents: readonly GraphQLOperation[] = [
  {
    field: 'changeWebhooks',
    args: { projectId: '$project' },
    audit: 'change-webhook:list',
    denial: viewer('webhooks:read'),
  },
  { field: 'changeWebhook', args: webhook, audit: 'change-webhook:get', denial: viewer('webhooks:read') },
  {
    field: 'createChangeWebhook',
    args: {
      ...{ projectId: '$project', name: CANARY, url: `https://example.com/${CANARY}`, enabled: false },
      ...{ kinds: ['SECRET', 'FOLDER'], environment: 'prod', secretPath: '/payments/**' },
    },
    audit: 'change-webhook:create',
    denial: viewer('webhooks:create'),
  },
  {
    field: 'updateChangeWebhook',
    args: { ...webhook, url: `https://example.org/${CANARY}`, kinds: null },
    audit: 'change-webhook:update',
    denial: viewer('webhooks:edit'),
  },
  {
    field: 'rotateChangeWebhookSecret',
    args: webhook,
    audit: 'change-webhook:rotate-secret',
    denial: viewer('webhooks:edit'),
  },
  { field: 'testChangeWebhook', args: webhook, audit: 'change-webhook:test', denial: viewer('webhooks:edit') },
  { field: 'deleteChangeWebhook', args: webhook, audit: 'change-webhook:delete', denial: viewer('webhooks:delete') },
  { field: 'auditSinks', audit: 'audit-sink:list', denial },
  { field: 'auditSink', args: sink, audit: 'audit-sink:get', denial },
  {
    field: 'createAuditSink',
    args: {
      ...{ name: CANARY, kind: 'OTLP', url: `https://example.com/${CANARY}`, enabled: false },
      headers: [{ name: 'Authorization', value: `Bearer ${CANARY}` }],
    },
    audit: 'audit-sink:create',
    denial,
  },
  {
    field: 'updateAuditSink',
    args: { ...sink, url: `https://example.org/${CANARY}` },
    audit: 'audit-sink:update',
    denial,
  },
  { field: 'testAuditSink', args: sink, audit: 'audit-sink:test', denial },
  { field: 'deleteAuditSink', args: sink, audit: 'audit-sink:delete', denial },
];
