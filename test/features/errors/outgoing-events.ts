import type { ErrorCode } from '../../../src/kernel/errors.js';
import { again, type ErrorCase, type Provoke, send, unknown } from './scene.js';

const WEBHOOKS = '/api/v1/projects/{projectId}/change-webhooks';

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

/** Of targets of events that are not there. */
export const TARGETS_NOT_THERE: Partial<Record<ErrorCode, ErrorCase>> = {
  CHANGE_WEBHOOK_NOT_FOUND: unknown('changeWebhook', `GET ${WEBHOOKS}/{webhookId}`, 'changeWebhook'),
};

/** Of targets of events that are there already. */
export const TARGET_CLASHES: Partial<Record<ErrorCode, ErrorCase>> = {
  CHANGE_WEBHOOK_NAME_TAKEN: { rest: again(`POST ${WEBHOOKS}`), graphql: again('createChangeWebhook') },
  CHANGE_WEBHOOKS_FULL: {
    rest: withFullProject(send(`POST ${WEBHOOKS}`)),
    graphql: withFullProject(send('createChangeWebhook')),
  },
};
