import * as z from 'zod';
import { isId } from '../../../kernel/ids.js';
import { EVEN_IF_INVALID, objectEntries } from '../../../kernel/validation.js';
import { storedText } from '../../../kernel/value-rules.js';
import type { ChannelConfigs, ChannelType } from '../sending/public.js';

/** Whether channels may call a host. Decided by its name (`URL.hostname`) alone, without DNS. */
export type MayCall = (host: string) => boolean;

/** A requested config. Without a signing secret, the existing one is kept. */
type ConfigInput =
  | ChannelConfigs['slack' | 'pagerduty']
  | Partial<ChannelConfigs['email']>
  | { readonly url: string; readonly signingSecret?: string | null | undefined };

const MAX_URL = 2_048;
const MAX_CHANNELS = 10;
const MAX_MEMBERS = 20;
const SLACK_HOST = 'hooks.slack.com';

const DUPLICATE = 'must be unique in the list';

/** Reports duplicates in a list of strings, case-insensitive. */
function refuseRepeats(
  issues: z.core.$RefinementCtx,
  texts: readonly unknown[],
  pathOf: (at: number) => PropertyKey[],
): void {
  const seen = new Set<string>();
  texts.forEach((given, at) => {
    if (typeof given !== 'string') return;
    const text = given.toLowerCase();
    if (seen.has(text))
      issues.addIssue({ code: 'custom', path: pathOf(at), message: DUPLICATE, params: { code: 'DUPLICATE' } });
    seen.add(text);
  });
}

const recipients = z
  .array(z.string().max(254).regex(z.regexes.email, 'must be an email address'))
  .min(1)
  .max(10)
  .superRefine((list, issues) => refuseRepeats(issues, list, (at) => [at]), EVEN_IF_INVALID)
  .meta({ description: 'Email addresses, 1 to 10, without duplicates.' });

const memberIds = (who: string) =>
  z
    .array(z.string().refine(isId, { error: 'must be a UUID', params: { code: 'INVALID_FORMAT' } }))
    .min(1)
    .max(MAX_MEMBERS)
    .superRefine((list, issues) => refuseRepeats(issues, list, (at) => [at]), EVEN_IF_INVALID)
    .meta({
      description: `IDs of ${who} of the project, or of the organization if there is no project, 1 to ${MAX_MEMBERS}, without duplicates. Membership is resolved when an email is sent. Usernames that are not email addresses are skipped.`,
    });

/** Parses an https URL; null if the string is none. Rejects white space, which the URL parser would silently strip. */
function httpsUrl(text: string): URL | null {
  const url = /^https:\/\/[^\s\p{Cc}]+$/iu.test(text) && URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === 'https:' && url.hostname !== '' ? url : null;
}

/** Refuses URLs with a user name or password: requests would leak them. */
const credentialsViolation = ({ username, password }: URL) =>
  username === '' && password === ''
    ? null
    : {
        message: 'must not contain a user name or password; use a signing secret to authenticate webhooks',
        code: 'INVALID',
      };

/** A URL for requests. @param fault the error of its host, if any */
const address = (violation: (url: URL) => { readonly message: string; readonly code: string } | null) =>
  z
    .string()
    .max(MAX_URL)
    .superRefine((text, issues) => {
      const url = httpsUrl(text);
      const found =
        url === null
          ? { message: 'must be a URL that starts with https://', code: 'INVALID_FORMAT' }
          : (violation(url) ?? credentialsViolation(url));
      if (found !== null) issues.addIssue({ code: 'custom', message: found.message, params: { code: found.code } });
    });

const configRules = (mayCall: MayCall) => ({
  email: z
    .strictObject({
      recipients: recipients.optional(),
      userIds: memberIds('users').optional(),
      groupIds: memberIds('groups').optional(),
    })
    .superRefine((given: object, issues) => {
      if (Object.values(given).every((list) => list === undefined))
        issues.addIssue({
          code: 'custom',
          path: ['recipients'],
          message: 'required unless userIds or groupIds is set',
          params: { code: 'MISSING' },
        });
    }, EVEN_IF_INVALID)
    .meta({ description: 'Recipients of the emails: addresses, users and groups.' }),
  webhook: z
    .strictObject({
      url: address(({ hostname }) =>
        mayCall(hostname)
          ? null
          : { message: 'must not be a private network address or this machine', code: 'PRIVATE_TARGET' },
      ).meta({
        description: `URL to send requests to, with \`https\`, up to ${MAX_URL} characters. Hosts in private networks are refused unless the operator allows them.`,
      }),
      signingSecret: storedText(256).min(1).nullish().meta({
        description:
          'Secret that signs requests (HMAC-SHA256), 1 to 256 characters. Absent keeps the current one; null removes it.',
      }),
    })
    .meta({ description: 'URL and signing secret of a webhook.' }),
  slack: z
    .strictObject({
      webhookUrl: address(({ hostname, port }) =>
        hostname === SLACK_HOST && port === '' ? null : { message: `must be a URL at ${SLACK_HOST}`, code: 'INVALID' },
      ).meta({ description: `URL of a Slack incoming webhook, at \`https://${SLACK_HOST}\`.` }),
    })
    .meta({ description: 'The Slack channel to post to.' }),
  pagerduty: z
    .strictObject({
      integrationKey: z
        .string()
        .regex(/^[0-9a-fA-F]{32}$/, 'must be 32 hexadecimal digits')
        .meta({ description: 'Integration key of the PagerDuty service, 32 hexadecimal digits.' }),
    })
    .meta({ description: 'The PagerDuty service to create incidents in.' }),
});

const isEmpty = (config: unknown): boolean =>
  config === undefined || (typeof config === 'object' && config !== null && Object.keys(config).length === 0);

/** A config of another type than the channel: every field is unknown. Ignoring them would silently keep the existing config. */
const exactly = <S extends z.core.$ZodLooseShape>(config: z.ZodObject<S>) => z.lazy(() => config);

/** A config, or `{}`, which keeps the existing one. */
const orEmpty = <S extends z.core.$ZodLooseShape>(config: z.ZodObject<S>) => {
  const required = Object.entries(config.shape).filter(([, rule]) => !(rule instanceof z.ZodOptional));
  const rules = z
    .strictObject(config.shape)
    .partial()
    .superRefine((given: object, issues) => {
      if (isEmpty(given)) return;
      for (const [key] of required)
        if ((given as Readonly<Record<string, unknown>>)[key] === undefined)
          issues.addIssue({ code: 'custom', path: [key], message: 'required', params: { code: 'MISSING' } });
    }, EVEN_IF_INVALID);
  return exactly(rules)
    .optional()
    .meta({ description: 'Same format as for a new channel. Absent or `{}` keeps the existing config.' });
};

const channelId = z.string().refine(isId, { error: 'must be a UUID', params: { code: 'INVALID_FORMAT' } });
const channelType = <T extends ChannelType>(type: T) => z.literal(type).meta({ description: 'Type of the channel.' });

/** Additional fields of channels. */
type Fields = z.core.$ZodLooseShape;

const newChannel = <T extends ChannelType, S extends Fields, E extends Fields>(
  type: T,
  config: z.ZodObject<S>,
  more: E,
) =>
  z.strictObject({
    ...more,
    channelType: channelType(type),
    config: exactly(config),
    id: channelId.optional().meta({ description: 'Ignored: the server assigns the ID of a new channel.' }),
    enabled: z.boolean().default(true).meta({ description: 'Whether the channel sends notifications.' }),
  });

const changedChannel = <T extends ChannelType, S extends Fields, E extends Fields>(
  type: T,
  config: z.ZodObject<S>,
  more: E,
) =>
  z.strictObject({
    ...more,
    channelType: channelType(type),
    config: orEmpty(config),
    id: channelId.optional().meta({ description: 'ID of an existing channel of the alert. Absent for a new channel.' }),
    enabled: z.boolean().optional().meta({
      description: 'Whether the channel sends notifications. Absent keeps the current value; true for a new channel.',
    }),
  });

/** Every new channel needs a config, and no ID may repeat. */
const refuseUnclear = (list: readonly unknown[], issues: z.core.$RefinementCtx): void => {
  const entries = objectEntries(list);
  refuseRepeats(
    issues,
    entries.map(({ id }) => id),
    (at) => [at, 'id'],
  );
  entries.forEach(({ channelType: type, id, config }, at) => {
    if (type !== undefined && id === undefined && isEmpty(config))
      issues.addIssue({ code: 'custom', path: [at, 'config'], message: 'required', params: { code: 'MISSING' } });
  });
};

/**
 * Rules of the channel lists of new and updated alerts, with the fields that channels have in REST.
 *
 * @param more fields that every channel has in addition
 */
export function channelRules<E extends Fields>(mayCall: MayCall, more: E) {
  const configs = configRules(mayCall);
  const { email, webhook, slack, pagerduty } = configs;
  return {
    configs,
    newChannels: z
      .array(
        z.discriminatedUnion('channelType', [
          newChannel('email', email, more),
          newChannel('webhook', webhook, more),
          newChannel('slack', slack, more),
          newChannel('pagerduty', pagerduty, more),
        ]),
      )
      .min(1)
      .max(MAX_CHANNELS),
    changedChannels: z
      .array(
        z.discriminatedUnion('channelType', [
          changedChannel('email', email, more),
          changedChannel('webhook', webhook, more),
          changedChannel('slack', slack, more),
          changedChannel('pagerduty', pagerduty, more),
        ]),
      )
      .min(1)
      .max(MAX_CHANNELS)
      .superRefine(refuseUnclear, EVEN_IF_INVALID),
  };
}

/** A validated channel. `config` is null if the existing one is kept. */
export interface ChannelInput {
  readonly id: string | null;
  readonly channelType: ChannelType;
  readonly isEnabled: boolean | null;
  readonly config: ConfigInput | null;
  /** Of those that have one. */
  readonly name?: string | undefined;
}

/** A validated channel, new or updated. */
interface ParsedChannel {
  readonly channelType: ChannelType;
  readonly id?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly config?: object | undefined;
  readonly name?: string | undefined;
}

/** Converts the channels of an updated alert to the form in which they are stored. */
export const toChannelInputs = (channels: readonly ParsedChannel[]): ChannelInput[] =>
  channels.map(({ id, channelType: type, enabled, config, name }) => ({
    name,
    id: id?.toLowerCase() ?? null,
    channelType: type,
    isEnabled: enabled ?? null,
    config: isEmpty(config) ? null : (config as ConfigInput),
  }));

/** The config to seal. If no signing secret was given, it keeps the existing one. */
export function withKeptSecret(given: ConfigInput, before: ConfigInput | null): ChannelConfigs[ChannelType] {
  if ('webhookUrl' in given || 'integrationKey' in given) return given;
  if (!('url' in given)) return { ...given, recipients: given.recipients ?? [] };
  const kept = before !== null && 'url' in before ? before.signingSecret : null;
  return { url: given.url, signingSecret: (given.signingSecret === undefined ? kept : given.signingSecret) ?? null };
}
