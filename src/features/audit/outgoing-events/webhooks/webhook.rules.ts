import * as z from 'zod';
import { orderRulesOf } from '../../../../kernel/list-order.js';
import { pageRules } from '../../../../kernel/paging.js';
import { idOf, storedText } from '../../../../kernel/value-rules.js';
import { ALERTS_ANYWHERE, alertRulesFor } from '../../../notifications/alerts/public.js';
import { WatchChanges } from '../../change-feed/public.js';

const projectId = idOf('project');
const id = idOf('change webhook');
const onlyIn = idOf('project that the webhook must belong to').nullish();
const name = storedText(255)
  .trim()
  .min(1)
  .meta({ description: 'Name of the webhook, 1 to 255 characters, unique in the project.' });
const { environment, secretPath, kinds } = WatchChanges.shape;

/** The same filters as those of event streams. */
const filters = { environment, secretPath, kinds };

function webhookRules(url: typeof ALERTS_ANYWHERE.configs.webhook.shape.url) {
  return {
    create: z
      .strictObject({
        projectId,
        name,
        url,
        ...filters,
        isEnabled: z.boolean().default(true).meta({ description: 'Whether the webhook sends events.' }),
      })
      .meta({ description: 'Fields of the new change webhook.' }),
    update: z
      .strictObject({
        id,
        projectId: onlyIn,
        name: name.optional(),
        url: url.optional(),
        ...filters,
        isEnabled: z.boolean().optional().meta({
          description: 'Whether the webhook sends events. When it is enabled again, it continues where it stopped.',
        }),
      })
      .meta({
        description: 'Fields of the change webhook to change. Absent fields keep their value; null removes a filter.',
      }),
  };
}

export type WebhookRules = ReturnType<typeof webhookRules>;

/** Rules that allow any host; the GraphQL schema is made of them. */
export const ANYWHERE = webhookRules(ALERTS_ANYWHERE.configs.webhook.shape.url);

/** The rules of an installation. They accept the same fields and differ only in the hosts that they refuse. */
export const rulesFor = (config: { readonly allowPrivateTargets: boolean }): WebhookRules =>
  config.allowPrivateTargets ? ANYWHERE : webhookRules(alertRulesFor(config).configs.webhook.shape.url);

export const OneWebhook = z.strictObject({ id, projectId: onlyIn }).meta({ description: 'The change webhook, by ID.' });

export const ListWebhooks = z.strictObject({ ...pageRules, ...orderRulesOf('by name'), projectId });
