import { Ctx, Extensions, Field, ID, InterfaceType, ObjectType } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { AppError, withPaths } from '../../../kernel/errors.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { enumOfRule, inputOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import { idOf } from '../../../kernel/value-rules.js';
import type { ChannelType } from '../sending/public.js';
import type { ChannelRow } from './alert.queries.js';
import { ANYWHERE } from './alert.rules.js';
import { allowedAddresses, openForSending } from './channel-people.js';
import { openConfig } from './channel-sealing.js';

/** Names of channel types in GraphQL. */
export const AlertChannelTypeEnum = enumType<ChannelType>('AlertChannelType', 'Types of notification channels.', {
  email: 'Emails to addresses, users and groups.',
  webhook: 'HTTP requests (CloudEvents) to a URL of yours.',
  slack: 'Messages in a Slack channel.',
  pagerduty: 'Incidents of a PagerDuty service.',
});

/** A channel as the API shows it. Secrets in its config are never shown. */
@InterfaceType('AlertChannel', {
  description: 'A notification channel of an alert or project. Secrets in its configuration are never returned.',
})
export abstract class AlertChannelType {
  @Field(() => ID, { description: 'ID of the channel.' })
  id!: string;

  @Field(() => AlertChannelTypeEnum, { description: 'Type of the channel.' })
  channelType!: ChannelType;

  @Field(() => Boolean, { description: 'Whether the channel sends notifications.' })
  isEnabled!: boolean;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the current configuration was last tested. Null if it was not.',
  })
  testedAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the last test, for example `TARGET_REJECTED`. Null if every target accepted it.',
  })
  testErrorCode!: string | null;

  @Field(() => DateTime, { description: 'When the channel was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the channel was last changed.' })
  updatedAt!: Date;
}

/** A stored channel of a type. Fields that decrypt its config are methods, so that only those that are requested do. */
type Stored<T extends ChannelType> = Parameters<typeof openConfig<T>>[1];

const OR_NULL = 'Null, with SEALED_VALUE_INVALID, if the configuration cannot be decrypted.';

@ObjectType('EmailAlertChannel', {
  implements: AlertChannelType,
  description: 'A channel that sends emails.',
  simpleResolvers: true,
})
class EmailChannelType extends AlertChannelType {
  readonly stored!: Stored<'email'>;

  @Field(() => [String], { nullable: true, description: `Email addresses of the channel. ${OR_NULL}` })
  async recipients(@Ctx() ctx: Context): Promise<readonly string[]> {
    return (await openConfig(ctx, this.stored)).recipients;
  }

  @Field(() => [ID], { nullable: true, description: `IDs of users who receive the emails. ${OR_NULL}` })
  async userIds(@Ctx() ctx: Context): Promise<readonly string[]> {
    return (await openConfig(ctx, this.stored)).userIds ?? [];
  }

  @Field(() => [ID], { nullable: true, description: `IDs of groups whose members receive the emails. ${OR_NULL}` })
  async groupIds(@Ctx() ctx: Context): Promise<readonly string[]> {
    return (await openConfig(ctx, this.stored)).groupIds ?? [];
  }

  @Field(() => [String], {
    nullable: true,
    description: `All addresses that an email sent now would go to, with users and groups resolved. ${OR_NULL}`,
  })
  async presentRecipients(@Ctx() ctx: Context): Promise<readonly string[]> {
    return allowedAddresses(ctx, (await openForSending(ctx, this.stored)).recipients);
  }
}

@ObjectType('WebhookAlertChannel', {
  implements: AlertChannelType,
  description: 'A channel that sends HTTP requests.',
  simpleResolvers: true,
})
class WebhookChannelType extends AlertChannelType {
  readonly stored!: Stored<'webhook'>;

  @Field(() => String, {
    nullable: true,
    description: `URL that requests are sent to, without user name and password. ${OR_NULL}`,
  })
  async url(@Ctx() ctx: Context): Promise<string> {
    return (await openConfig(ctx, this.stored)).url;
  }

  @Field(() => Boolean, { nullable: true, description: `Whether requests are signed. ${OR_NULL}` })
  async hasSigningSecret(@Ctx() ctx: Context): Promise<boolean> {
    return (await openConfig(ctx, this.stored)).signingSecret !== null;
  }
}

const SlackChannelType = objectType(
  'SlackAlertChannel',
  'A channel that posts messages to Slack. Its webhook URL is a secret.',
  {},
  { implements: AlertChannelType },
);

const PagerDutyChannelType = objectType(
  'PagerDutyAlertChannel',
  'A channel that creates PagerDuty incidents. Its integration key is a secret.',
  {},
  { implements: AlertChannelType },
);

/** A channel of an alert, or one of another slice with the same kind of config and no stored test. */
type Tested = 'testedAt' | 'testErrorCode';
type ShownChannel = Omit<ChannelRow, 'projectId' | 'alertId' | 'position' | Tested> &
  Partial<Pick<ChannelRow, Tested>> & { readonly projectId: string | null; readonly table?: string };

/** Converts a channel to its GraphQL type. The class decides the type: compiled documents do not wait for an async `resolveType`. */
export function toChannelType(channel: ShownChannel): AlertChannelType {
  const { id, channelType, isEnabled, testedAt = null, testErrorCode = null, createdAt, updatedAt } = channel;
  const common = { id, channelType, isEnabled, testedAt, testErrorCode, createdAt, updatedAt };
  switch (channelType) {
    case 'email':
      return Object.assign(new EmailChannelType(), common, { stored: { ...channel, channelType } });
    case 'webhook':
      return Object.assign(new WebhookChannelType(), common, { stored: { ...channel, channelType } });
    case 'slack':
      return Object.assign(new SlackChannelType(), common);
    case 'pagerduty':
      return Object.assign(new PagerDutyChannelType(), common);
  }
}

const { email, webhook, slack, pagerduty } = ANYWHERE.configs;
inputType('EmailAlertConfigInput', email);
inputType('WebhookAlertConfigInput', webhook);
inputType('SlackAlertConfigInput', slack);
inputType('PagerDutyAlertConfigInput', pagerduty);

/** The type of a channel in inputs. */
export const channelType = z.enum(Object.values(AlertChannelTypeEnum));
enumOfRule(channelType, AlertChannelTypeEnum);

/** Configuration of a channel, by type: inputs wrap it in a field that says which. */
export const channelConfig = z
  .strictObject({
    email: email.nullish().meta({ description: 'Configuration of an email channel.' }),
    webhook: webhook.nullish().meta({ description: 'Configuration of a webhook channel.' }),
    slack: slack.nullish().meta({ description: 'Configuration of a Slack channel.' }),
    pagerduty: pagerduty.nullish().meta({ description: 'Configuration of a PagerDuty channel.' }),
  })
  .meta({ description: 'Configuration of a channel. Set exactly one field.' });
export const ChannelConfigInput = inputType('AlertChannelConfigInput', channelConfig);
Extensions(ONE_OF)(ChannelConfigInput);

const Channel = z
  .strictObject({
    config: channelConfig.meta({
      description: 'Configuration of the channel. The field that is set decides its type.',
    }),
    isEnabled: z.boolean().default(true).meta({ description: 'Whether the channel sends notifications.' }),
  })
  .meta({ description: 'A channel of a new alert.' });

const ChannelChange = z
  .strictObject({
    id: idOf('ID of an existing channel of the alert. Absent for a new channel.').nullish(),
    channelType: channelType.meta({ description: 'Type of the channel. If it changes, `config` is required.' }),
    config: channelConfig.nullish().meta({
      description:
        'Configuration of the channel, of the type in `channelType`. Absent keeps the existing configuration.',
    }),
    isEnabled: z.boolean().nullish().meta({
      description: 'Whether the channel sends notifications. Absent keeps the current value; true for a new channel.',
    }),
  })
  .meta({ description: 'A channel of an updated alert: an existing or a new one.' });

inputOfRule(ANYWHERE.create.shape.channels.element, inputType('AlertChannelInput', Channel));
inputOfRule(ANYWHERE.update.shape.channels.unwrap().element, inputType('AlertChannelChangeInput', ChannelChange));

/** Inputs of alerts as GraphQL has them. */
interface GivenInput {
  readonly channels?: readonly Partial<z.input<typeof ChannelChange>>[] | null;
}

/** What channels of alerts are compared by: most of a configuration is secret. */
export const comparedChannels = {
  of: ({ channels }: { readonly channels: readonly AlertChannelType[] }) =>
    channels.map(({ channelType: type, isEnabled }) => ({ type, isEnabled })),
  as: (channels: readonly { readonly channelType: ChannelType; readonly enabled: boolean }[]) =>
    channels.map(({ channelType: type, enabled: isEnabled }) => ({ type, isEnabled })),
};

/** Runs a change of an alert with the input in the form of the rules. Paths of validation errors are those of the GraphQL input. */
export async function withInput<T>(input: object, change: (given: object) => Promise<T>): Promise<T> {
  try {
    return await change(fromInput(input));
  } catch (error) {
    throw error instanceof AppError && error.code === 'VALIDATION_FAILED' ? withPaths(error, inInput(input)) : error;
  }
}

/** Converts a GraphQL input to the form of the rules: channels as REST has them, the config without its type wrapper. */
export function fromInput(input: object): object {
  const { channels, ...rest } = input as GivenInput;
  return channels == null ? input : { ...rest, channels: channels.map(toGivenChannel) };
}

function toGivenChannel({
  id,
  channelType,
  config,
  isEnabled,
  ...more
}: NonNullable<GivenInput['channels']>[number]): object {
  const [kind, given] = kindOf(config);
  return {
    ...more,
    ...(id == null ? {} : { id }),
    ...(isEnabled == null ? {} : { enabled: isEnabled }),
    channelType: channelType ?? kind,
    // A config of another type keeps its wrapper, so that validation reports its fields as unknown.
    ...(kind === undefined ? {} : { config: channelType === undefined || channelType === kind ? given : config }),
  };
}

const kindOf = (config: object | null | undefined): [kind?: string, given?: object] =>
  Object.entries(config ?? {}).find(([, given]) => given != null) ?? [];

/** Converts the path of a validation error to its path in the GraphQL input, where a config is wrapped in its type. */
const inInput =
  (input: object) =>
  (path: string): string =>
    path.replace(/^channels\[(\d+)\]\.config(?=\.)/, (start, at: string) => {
      const [kind] = kindOf((input as GivenInput).channels?.[Number(at)]?.config);
      return kind === undefined ? start : `${start}.${kind}`;
    });
