import type { ErrorCode } from '../../../src/kernel/errors.js';
import { again, type ErrorCase, type Provoke, send, unknown } from './scene.js';

const WEBHOOKS = '/api/v1/projects/{projectId}/change-webhooks';
const SINKS = '/api/v1/organization/audit-sinks';

/** Where the project has as many webhooks as it may have. */
const withFullProject =
  (provoke: Provoke): Provoke =>
  async (scene) => {
    await scene.strongroom.sql(
      `insert into change_webhook (id, organization_id, project_id, name, origin, config_sealed, position, position_index, is_enabled)
       select gen_random_uuid(), organization_id, project_id, 'n' || n, origin, config_sealed, position, position_index, false
       from change_webhook, generate_series(2, 20) n where id = $1 on conflict do nothing`,
      [scene.world.changeWebhook],
    );
    return provoke(scene);
  };

/** Where the organization has as many sinks as it may have. */
const withFullOrganization =
  (provoke: Provoke): Provoke =>
  async (scene) => {
    await scene.strongroom.sql(
      `insert into audit_sink (id, organization_id, name, kind, origin, config_sealed, position, position_index, is_enabled)
       select gen_random_uuid(), organization_id, 'n' || n, kind, origin, config_sealed, position, position_index, false
       from audit_sink, generate_series(2, 10) n where id = $1 on conflict do nothing`,
      [scene.world.auditSink],
    );
    return provoke(scene);
  };

/** Of targets of events that are not there. */
export const TARGETS_NOT_THERE: Partial<Record<ErrorCode, ErrorCase>> = {
  CHANGE_WEBHOOK_NOT_FOUND: unknown('changeWebhook', `GET ${WEBHOOKS}/{webhookId}`, 'changeWebhook'),
  AUDIT_SINK_NOT_FOUND: unknown('auditSink', `GET ${SINKS}/{sinkId}`, 'auditSink'),
};

/** Of targets of events that are there already. */
export const TARGET_CLASHES: Partial<Record<ErrorCode, ErrorCase>> = {
  CHANGE_WEBHOOK_NAME_TAKEN: { rest: again(`POST ${WEBHOOKS}`), graphql: again('createChangeWebhook') },
  AUDIT_SINK_NAME_TAKEN: { rest: again(`POST ${SINKS}`), graphql: again('createAuditSink') },
  AUDIT_SINKS_FULL: {
    rest: withFullOrganization(send(`POST ${SINKS}`)),
    graphql: withFullOrganization(send('createAuditSink')),
  },
  CHANGE_WEBHOOKS_FULL: {
    rest: withFullProject(send(`POST ${WEBHOOKS}`)),
    graphql: withFullProject(send('createChangeWebhook')),
  },
};
