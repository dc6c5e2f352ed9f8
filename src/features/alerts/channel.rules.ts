import { z } from 'zod';
import { isId } from '../../kernel/ids.js';
import { isStorable, NOT_STORABLE, storedText } from '../../kernel/text-rules.js';
import { EVEN_IF_FAULTY, looseEntries } from '../../kernel/validation.js';
import type { ChannelConfigs, ChannelType } from '../notifications/public.js';

/** Whether channels may call a host, by its name alone: `URL.hostname`. */
export type MayCall = (host: string) => boolean;

/** A config of a channel as it was given: without a signing secret that of before stays. */
export type GivenConfig =
  | ChannelConfigs['slack' | 'pagerduty']
  | Partial<ChannelConfigs['email']>
  | { readonly url: string; readonly signingSecret?: string | null | undefined };

const MAX_URL = 2_048;
const MAX_CHANNELS = 10;
const SLACK_HOST = 'hooks.slack.com';

const DUPLICATE = 'must be unique in the list';

/** Reports entries of a list that have the same text as an earlier one, whatever the case of letters. */
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
  .array(z.string().max(254).regex(z.regexes.email, 'must be an e-mail address'))
  .min(1)
  .max(10)
  .superRefine((list, issues) => refuseRepeats(issues, list, (at) => [at]), EVEN_IF_FAULTY)
  .meta({ description: 'E-mail addresses, 1 to 10, each once.' });

const memberIds = (who: string) =>
  z
    .array(z.string().refine(isId, { error: 'must be a UUID', params: { code: 'INVALID_FORMAT' } }))
    .min(1)
    .max(10)
    .superRefine((list, issues) => refuseRepeats(issues, list, (at) => [at]), EVEN_IF_FAULTY)
    .meta({
      description: `${who} of the project, 1 to 10, each once. Whoever is one when a mail is sent gets it, where the username is an address.`,
    });

/** The address of a text that starts with https; null for any other text. White space, which addresses of the Web leave out, is none. */
function httpsUrl(text: string): URL | null {
  const url = /^https:\/\/[^\s\p{Cc}]+$/iu.test(text) && URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === 'https:' && url.hostname !== '' ? url : null;
}

/** Nothing is sent to an address with a user or a password in it. Source: reliability P19. */
const credentialsFault = ({ username, password }: URL) =>
  username === '' && password === ''
    ? null
    : { message: 'must not have a user or a password in it; webhooks are signed', code: 'INVALID' };

/** An address for requests. @param fault what is wrong with its host, if anything */
const address = (fault: (url: URL) => { readonly message: string; readonly code: string } | null) =>
  z
    .string()
    .max(MAX_URL)
    .refine(isStorable, NOT_STORABLE)
    .superRefine((text, issues) => {
      const url = httpsUrl(text);
      const found =
        url === null
          ? { message: 'must be an address that starts with https://', code: 'INVALID_FORMAT' }
          : (fault(url) ?? credentialsFault(url));
      if (found !== null) issues.addIssue({ code: 'custom', message: found.message, params: { code: found.code } });
    });

const configRules = (mayCall: MayCall) => ({
  email: z
    .strictObject({
      recipients: recipients.optional(),
      userIds: memberIds('Users').optional(),
      groupIds: memberIds('Groups').optional(),
    })
    .superRefine((given: object, issues) => {
      if (Object.values(given).every((list) => list === undefined))
        issues.addIssue({
          code: 'custom',
          path: ['recipients'],
          message: 'must be given, or else userIds or groupIds',
          params: { code: 'MISSING' },
        });
    }, EVEN_IF_FAULTY)
    .meta({ description: 'Who gets the mails: addresses, users and groups.' }),
  webhook: z
    .strictObject({
      url: address(({ hostname }) =>
        mayCall(hostname)
          ? null
          : { message: 'must not be in a private network, nor on this machine', code: 'PRIVATE_TARGET' },
      ).meta({
        description: `Where to send, \`https\`, up to ${MAX_URL} characters. Not in a private network unless the operator allows it.`,
      }),
      signingSecret: storedText(256).min(1).nullish().meta({
        description: 'Signs what is sent, 1 to 256 characters. Absent keeps that of before, null removes it.',
      }),
    })
    .meta({ description: 'Where a webhook is sent, and how it is signed.' }),
  slack: z
    .strictObject({
      webhookUrl: address(({ hostname, port }) =>
        hostname === SLACK_HOST && port === ''
          ? null
          : { message: `must be an address of ${SLACK_HOST}`, code: 'INVALID' },
      ).meta({ description: `Incoming webhook of Slack, at \`https://${SLACK_HOST}\`.` }),
    })
    .meta({ description: 'Which channel of Slack.' }),
  pagerduty: z
    .strictObject({
      integrationKey: z
        .string()
        .regex(/^[0-9a-fA-F]{32}$/, 'must be 32 hexadecimal digits')
        .meta({ description: 'Integration key of the service, 32 hexadecimal digits.' }),
    })
    .meta({ description: 'Which service of PagerDuty.' }),
});

const isEmpty = (config: unknown): boolean =>
  config === undefined || (typeof config === 'object' && config !== null && Object.keys(config).length === 0);

/** In a config of another type than the channel no field is known: none may be passed over, or that of before would stay. */
const exactly = <S extends z.core.$ZodLooseShape>(config: z.ZodObject<S>) => z.lazy(() => config);

/** A config that may also be `{}`, which keeps that of before. */
const orEmpty = <S extends z.core.$ZodLooseShape>(config: z.ZodObject<S>) => {
  const required = Object.entries(config.shape).filter(([, rule]) => !(rule instanceof z.ZodOptional));
  const rules = z
    .strictObject(config.shape)
    .partial()
    .superRefine((given: object, issues) => {
      if (isEmpty(given)) return;
      for (const [key] of required)
        if ((given as Readonly<Record<string, unknown>>)[key] === undefined)
          issues.addIssue({ code: 'custom', path: [key], message: 'must be given', params: { code: 'MISSING' } });
    }, EVEN_IF_FAULTY);
  return exactly(rules)
    .optional()
    .meta({ description: 'As of a new channel. Absent or `{}` keeps that of the channel with this id.' });
};

const channelId = z.string().refine(isId, { error: 'must be a UUID', params: { code: 'INVALID_FORMAT' } });
const channelType = <T extends ChannelType>(type: T) => z.literal(type).meta({ description: 'How it notifies.' });

const newChannel = <T extends ChannelType, S extends z.core.$ZodLooseShape>(type: T, config: z.ZodObject<S>) =>
  z.strictObject({
    channelType: channelType(type),
    config: exactly(config),
    id: channelId.optional().meta({ description: 'Ignored: a new channel gets an id of its own.' }),
    enabled: z.boolean().default(true).meta({ description: 'Whether it notifies.' }),
  });

const changedChannel = <T extends ChannelType, S extends z.core.$ZodLooseShape>(type: T, config: z.ZodObject<S>) =>
  z.strictObject({
    channelType: channelType(type),
    config: orEmpty(config),
    id: channelId.optional().meta({ description: 'A channel of the alert that stays; absent for a new one.' }),
    enabled: z
      .boolean()
      .optional()
      .meta({ description: 'Whether it notifies; absent: as before, and true for a new one.' }),
  });

/** A new channel needs a config, and none is named twice. */
const refuseUnclear = (list: readonly unknown[], issues: z.core.$RefinementCtx): void => {
  const entries = looseEntries(list);
  refuseRepeats(
    issues,
    entries.map(({ id }) => id),
    (at) => [at, 'id'],
  );
  entries.forEach(({ channelType: type, id, config }, at) => {
    if (type !== undefined && id === undefined && isEmpty(config))
      issues.addIssue({ code: 'custom', path: [at, 'config'], message: 'must be given', params: { code: 'MISSING' } });
  });
};

/** Rules of the lists of channels of a new and of a changed alert. Source: decisions 7.4. */
export function channelRules(mayCall: MayCall) {
  const configs = configRules(mayCall);
  const { email, webhook, slack, pagerduty } = configs;
  return {
    configs,
    newChannels: z
      .array(
        z.discriminatedUnion('channelType', [
          newChannel('email', email),
          newChannel('webhook', webhook),
          newChannel('slack', slack),
          newChannel('pagerduty', pagerduty),
        ]),
      )
      .min(1)
      .max(MAX_CHANNELS),
    changedChannels: z
      .array(
        z.discriminatedUnion('channelType', [
          changedChannel('email', email),
          changedChannel('webhook', webhook),
          changedChannel('slack', slack),
          changedChannel('pagerduty', pagerduty),
        ]),
      )
      .min(1)
      .max(MAX_CHANNELS)
      .superRefine(refuseUnclear, EVEN_IF_FAULTY),
  };
}

/** A channel as the rules leave it. `config` is null where that of before stays. */
export interface GivenChannel {
  readonly id: string | null;
  readonly channelType: ChannelType;
  readonly enabled: boolean | null;
  readonly config: GivenConfig | null;
}

/** What the rules leave of a channel, whether new or changed. */
interface ParsedChannel {
  readonly channelType: ChannelType;
  readonly id?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly config?: object | undefined;
}

/** Channels of a changed alert, in the form in which they are written. */
export const toGivenChannels = (channels: readonly ParsedChannel[]): GivenChannel[] =>
  channels.map(({ id, channelType: type, enabled, config }) => ({
    id: id?.toLowerCase() ?? null,
    channelType: type,
    enabled: enabled ?? null,
    config: isEmpty(config) ? null : (config as GivenConfig),
  }));

/** The config that is sealed: a signing secret that was not given is that of before. */
export function completed(given: GivenConfig, before: GivenConfig | null): ChannelConfigs[ChannelType] {
  if ('webhookUrl' in given || 'integrationKey' in given) return given;
  if (!('url' in given)) return { ...given, recipients: given.recipients ?? [] };
  const kept = before !== null && 'url' in before ? before.signingSecret : null;
  return { url: given.url, signingSecret: (given.signingSecret === undefined ? kept : given.signingSecret) ?? null };
}
