import { z } from 'zod';
import { orderRulesOf } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, storedText } from '../../kernel/text-rules.js';
import { EVEN_IF_FAULTY } from '../../kernel/validation.js';
import { ALERTS_ANYWHERE, alertRulesFor } from '../alerts/public.js';
import type { ChannelType } from '../notifications/public.js';
import { NOTICE_KINDS, noticeKind } from './notice.rules.js';

type Configs = typeof ALERTS_ANYWHERE.configs;

const projectId = idOf('project');
const id = idOf('notification channel');
const onlyIn = idOf('project that it belongs to').nullish();
const name = storedText(255)
  .trim()
  .min(1)
  .meta({ description: 'What people call it, 1 to 255 characters, unique in the project.' });
const kinds = z
  .array(noticeKind)
  .max(NOTICE_KINDS.length)
  .meta({ description: 'Which kinds of notices it sends; empty: every kind.' });
const enabled = z.boolean();

/** A config named by its type: `{ email: { recipients } }`. */
const configOf = ({ email, webhook, slack, pagerduty }: Configs) =>
  z
    .strictObject({
      email: email.optional().meta({ description: 'Of a channel that sends mails.' }),
      webhook: webhook.optional().meta({ description: 'Of a channel that sends requests.' }),
      slack: slack.optional().meta({ description: 'Of a channel that sends messages to Slack.' }),
      pagerduty: pagerduty.optional().meta({ description: 'Of a channel that makes incidents of PagerDuty.' }),
    })
    .superRefine((given: object, issues) => {
      if (Object.values(given).filter((config) => config !== undefined).length !== 1)
        issues.addIssue({ code: 'custom', message: 'must have exactly one type', params: { code: 'INVALID' } });
    }, EVEN_IF_FAULTY)
    .meta({ description: 'Where it sends, by its type: exactly one.' });

/** Inputs of new and changed channels of projects. */
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
        enabled: enabled.default(true).meta({ description: 'Whether it notifies.' }),
      })
      .meta({ description: 'A new notification channel.' }),
    update: z
      .strictObject({
        id,
        projectId: onlyIn,
        name: name.optional(),
        kinds: kinds.optional(),
        config: config.optional(),
        enabled: enabled.optional().meta({ description: 'Whether it notifies.' }),
      })
      .meta({ description: 'Changes of a notification channel. What is absent stays.' }),
  };
}
export type ChannelRules = ReturnType<typeof channelRules>;
export type GivenConfigs = z.output<ChannelRules['config']>;

/** Rules with which webhooks may go to any host: those that the schema is made of. */
export const ANYWHERE = channelRules(ALERTS_ANYWHERE.configs);

/** The rules of an installation. They differ in what they refuse, and not in what they take. */
export const rulesFor = (config: { readonly allowPrivateTargets: boolean }): ChannelRules =>
  config.allowPrivateTargets ? ANYWHERE : channelRules(alertRulesFor(config).configs);

/** The type of a config, and the config. */
export const configFrom = (given: GivenConfigs) =>
  Object.entries(given).find(([, config]) => config !== undefined) as [
    ChannelType,
    NonNullable<GivenConfigs[ChannelType]>,
  ];

export const OneChannel = z
  .strictObject({ id, projectId: onlyIn })
  .meta({ description: 'Which notification channel.' });

/** Arguments of `Project.notificationChannelConnection`. */
export const ChannelPage = z.strictObject({ ...pageRules, ...orderRulesOf('by name, ascending, which is NAME') });

export const ListChannels = ChannelPage.extend({ projectId });
