import * as z from 'zod';
import { orderRulesOf } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { idOf, storedText } from '../../../kernel/value-rules.js';
import { ALERTS_ANYWHERE, alertRulesFor } from '../alerts/public.js';
import type { ChannelType } from '../sending/public.js';
import { NOTICE_KINDS, noticeKind } from './notice.rules.js';

type Configs = typeof ALERTS_ANYWHERE.configs;

const projectId = idOf('project');
const id = idOf('notification channel');
const onlyIn = idOf('project that the channel must belong to').nullish();
const name = storedText(255)
  .trim()
  .min(1)
  .meta({ description: 'Name of the channel, 1 to 255 characters, unique in the project.' });
const kinds = z
  .array(noticeKind)
  .max(NOTICE_KINDS.length)
  .meta({ description: 'Kinds of notices that the channel sends. An empty list means every kind.' });
const isEnabled = z.boolean();

/** A config named by its type: `{ email: { recipients } }`. */
const configOf = ({ email, webhook, slack, pagerduty }: Configs) =>
  z
    .strictObject({
      email: email.optional().meta({ description: 'Configuration of an email channel.' }),
      webhook: webhook.optional().meta({ description: 'Configuration of a webhook channel.' }),
      slack: slack.optional().meta({ description: 'Configuration of a Slack channel.' }),
      pagerduty: pagerduty.optional().meta({ description: 'Configuration of a PagerDuty channel.' }),
    })
    .superRefine((given: object, issues) => {
      if (Object.values(given).filter((config) => config !== undefined).length !== 1)
        issues.addIssue({ code: 'custom', message: 'must have exactly one type', params: { code: 'INVALID' } });
    }, EVEN_IF_INVALID)
    .meta({ description: 'Configuration of the channel. Set exactly one field.' });

/** Inputs that create and update channels of projects. */
function channelRules(configs: Configs) {
  const config = configOf(configs);
  return {
    config,
    create: z
      .strictObject({
        projectId,
        name,
        kinds: kinds.default([]),
        config,
        isEnabled: isEnabled.default(true).meta({ description: 'Whether the channel sends notifications.' }),
      })
      .meta({ description: 'Fields of the new notification channel.' }),
    update: z
      .strictObject({
        id,
        projectId: onlyIn,
        name: name.optional(),
        kinds: kinds.optional(),
        config: config.optional(),
        isEnabled: isEnabled.optional().meta({ description: 'Whether the channel sends notifications.' }),
      })
      .meta({ description: 'Fields of the notification channel to change. Absent fields keep their value.' }),
  };
}
export type ChannelRules = ReturnType<typeof channelRules>;
export type ConfigInputs = z.output<ChannelRules['config']>;

/** Rules that allow webhooks to any host; the GraphQL schema is made of them. */
export const ANYWHERE = channelRules(ALERTS_ANYWHERE.configs);

/** The rules of an installation. They accept the same fields and differ only in the hosts that they refuse. */
export const rulesFor = (config: { readonly allowPrivateTargets: boolean }): ChannelRules =>
  config.allowPrivateTargets ? ANYWHERE : channelRules(alertRulesFor(config).configs);

/** The type of a config, and the config. */
export const configFrom = (given: ConfigInputs) =>
  Object.entries(given).find(([, config]) => config !== undefined) as [
    ChannelType,
    NonNullable<ConfigInputs[ChannelType]>,
  ];

export const OneChannel = z
  .strictObject({ id, projectId: onlyIn })
  .meta({ description: 'The notification channel, by ID.' });

export const ListChannels = z.strictObject({ ...pageRules, ...orderRulesOf('by name'), projectId });
