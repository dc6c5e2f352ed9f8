import { Extensions, Field, ID, InputType, InterfaceType, ObjectType, registerEnumType } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { inputOfRule, inputType } from '../../kernel/graphql/inputs.js';
import { ONE_OF } from '../../kernel/graphql/schema.js';
import type { ChannelType } from '../notifications/public.js';
import type { ChannelRow } from './alert.queries.js';
import { ANYWHERE } from './alert.rules.js';
import { mailed, openForSending } from './channel-people.js';
import { openConfig } from './channel-sealing.js';

/** GraphQL's names of the types of channels. */
export const AlertChannelTypeEnum = {
  EMAIL: 'email',
  WEBHOOK: 'webhook',
  SLACK: 'slack',
  PAGERDUTY: 'pagerduty',
} as const satisfies Record<string, ChannelType>;
registerEnumType(AlertChannelTypeEnum, {
  name: 'AlertChannelType',
  description: 'How an alert or a project notifies.',
  valuesConfig: {
    EMAIL: { description: 'By mails to some addresses.' },
    WEBHOOK: { description: 'By requests to an address of your own.' },
    SLACK: { description: 'By messages in a channel of Slack.' },
    PAGERDUTY: { description: 'By incidents of a service of PagerDuty.' },
  },
});

/** What the API shows of a channel. Secrets in its config are never shown. */
@InterfaceType('AlertChannel', {
  description: 'A way in which an alert or a project notifies. Secrets in its configuration are never shown.',
})
export abstract class AlertChannelType {
  @Field(() => ID, { description: 'Its id, which stays while its owner has it.' })
  id!: string;

  @Field(() => AlertChannelTypeEnum, { description: 'How it notifies.' })
  channelType!: ChannelType;

  @Field(() => Boolean, { description: 'Whether it notifies.' })
  enabled!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When it was last tested as it is now; null if it was not.' })
  testedAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'Why a target did not accept that test, as `TARGET_REJECTED`; null when all accepted it.',
  })
  testErrorCode!: string | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

/** Shown once it is asked for: only then the config is opened. */
type Shown<T> = (args: object, ctx: Context) => Promise<T>;

const OR_NULL = 'null with SEALED_VALUE_INVALID if it cannot be decrypted';

@ObjectType('EmailAlertChannel', {
  implements: AlertChannelType,
  description: 'A channel that sends mails.',
  simpleResolvers: true,
})
class EmailChannelType extends AlertChannelType {
  @Field(() => [String], { nullable: true, description: `The addresses; ${OR_NULL}.` })
  recipients!: Shown<readonly string[]>;

  @Field(() => [ID], { nullable: true, description: `Users who get the mails as well; ${OR_NULL}.` })
  userIds!: Shown<readonly string[]>;

  @Field(() => [ID], { nullable: true, description: `Groups whose users get the mails as well; ${OR_NULL}.` })
  groupIds!: Shown<readonly string[]>;

  @Field(() => [String], {
    nullable: true,
    description: `The addresses that a mail would go to right now: none where no user or group has one; ${OR_NULL}.`,
  })
  presentRecipients!: Shown<readonly string[]>;
}

@ObjectType('WebhookAlertChannel', {
  implements: AlertChannelType,
  description: 'A channel that sends requests.',
  simpleResolvers: true,
})
class WebhookChannelType extends AlertChannelType {
  @Field(() => String, {
    nullable: true,
    description: `Where it sends, without user name and password; ${OR_NULL}.`,
  })
  url!: Shown<string>;

  @Field(() => Boolean, { nullable: true, description: `Whether it signs what it sends; ${OR_NULL}.` })
  hasSigningSecret!: Shown<boolean>;
}

@ObjectType('SlackAlertChannel', {
  implements: AlertChannelType,
  description: 'A channel that sends messages to Slack. Its webhook is a secret.',
  simpleResolvers: true,
})
class SlackChannelType extends AlertChannelType {}

@ObjectType('PagerDutyAlertChannel', {
  implements: AlertChannelType,
  description: 'A channel that makes incidents of PagerDuty. Its integration key is a secret.',
  simpleResolvers: true,
})
class PagerDutyChannelType extends AlertChannelType {}

/** A channel of an alert, or another one with such a config, of which no tests are kept. */
type Tested = 'testedAt' | 'testErrorCode';
type ShownChannel = Omit<ChannelRow, 'alertId' | 'position' | Tested> &
  Partial<Pick<ChannelRow, Tested>> & { readonly table?: string };

/** A channel as the API shows it. Its class tells its type, since compiled documents do not wait for a function that does. */
export function toChannelType(channel: ShownChannel): AlertChannelType {
  const { id, channelType, enabled, testedAt = null, testErrorCode = null, createdAt, updatedAt } = channel;
  const common = { id, channelType, enabled, testedAt, testErrorCode, createdAt, updatedAt };
  const opened = <T extends ChannelType>(ctx: Context, type: T) => openConfig(ctx, { ...channel, channelType: type });
  switch (channelType) {
    case 'email':
      return Object.assign(new EmailChannelType(), {
        ...common,
        recipients: async (_: object, ctx: Context) => (await opened(ctx, 'email')).recipients,
        userIds: async (_: object, ctx: Context) => (await opened(ctx, 'email')).userIds ?? [],
        groupIds: async (_: object, ctx: Context) => (await opened(ctx, 'email')).groupIds ?? [],
        presentRecipients: async (_: object, ctx: Context) =>
          mailed(ctx, (await openForSending(ctx, { ...channel, channelType: 'email' })).recipients),
      });
    case 'webhook':
      return Object.assign(new WebhookChannelType(), {
        ...common,
        url: async (_: object, ctx: Context) => (await opened(ctx, 'webhook')).url,
        hasSigningSecret: async (_: object, ctx: Context) => (await opened(ctx, 'webhook')).signingSecret !== null,
      });
    case 'slack':
      return Object.assign(new SlackChannelType(), common);
    case 'pagerduty':
      return Object.assign(new PagerDutyChannelType(), common);
  }
}

const { email, webhook, slack, pagerduty } = ANYWHERE.configs;
const EmailConfigInput = inputType('EmailAlertConfigInput', email);
const WebhookConfigInput = inputType('WebhookAlertConfigInput', webhook);
const SlackConfigInput = inputType('SlackAlertConfigInput', slack);
const PagerDutyConfigInput = inputType('PagerDutyAlertConfigInput', pagerduty);

/** Where a channel sends, by its type. */
@InputType('AlertChannelConfigInput', { description: 'Where a channel sends, by its type.' })
@Extensions(ONE_OF)
export class ChannelConfigInput {
  @Field(() => EmailConfigInput, { nullable: true, description: 'Of a channel that sends mails.' })
  email?: object | null;

  @Field(() => WebhookConfigInput, { nullable: true, description: 'Of a channel that sends requests.' })
  webhook?: object | null;

  @Field(() => SlackConfigInput, { nullable: true, description: 'Of a channel that sends messages to Slack.' })
  slack?: object | null;

  @Field(() => PagerDutyConfigInput, { nullable: true, description: 'Of a channel that makes incidents of PagerDuty.' })
  pagerduty?: object | null;
}

@InputType('AlertChannelInput', { description: 'A channel of a new alert.' })
class ChannelInput {
  @Field(() => ChannelConfigInput, { description: 'Where it sends, which also says how.' })
  config!: ChannelConfigInput;

  @Field(() => Boolean, { defaultValue: true, description: 'Whether it notifies.' })
  enabled?: boolean;
}

@InputType('AlertChannelChangeInput', { description: 'A channel of a changed alert: one that it has, or a new one.' })
class ChannelChangeInput {
  @Field(() => ID, { nullable: true, description: 'A channel of the alert that stays; absent for a new one.' })
  id?: string | null;

  @Field(() => AlertChannelTypeEnum, { description: 'How it notifies. Another type than before needs a config.' })
  channelType!: ChannelType;

  @Field(() => ChannelConfigInput, {
    nullable: true,
    description: 'Where it sends, as `channelType` says; absent keeps that of before.',
  })
  config?: ChannelConfigInput | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether it notifies; absent: as before, and true for a new one.',
  })
  enabled?: boolean | null;
}

inputOfRule(ANYWHERE.create.shape.channels.element, ChannelInput);
inputOfRule(ANYWHERE.update.shape.channels.unwrap().element, ChannelChangeInput);

/** What the inputs of alerts have in GraphQL. */
interface GivenInput {
  readonly channels?: readonly (Partial<ChannelChangeInput> & Partial<ChannelInput>)[] | null;
}

/** An input as the rules have it: a config is that of the type of its channel. */
export function fromInput(input: object): object {
  const { channels, ...rest } = input as GivenInput;
  return channels == null ? input : { ...rest, channels: channels.map(toGivenChannel) };
}

function toGivenChannel({ id, channelType, config, enabled }: NonNullable<GivenInput['channels']>[number]): object {
  const [kind, given] = kindOf(config);
  return {
    ...(id == null ? {} : { id }),
    ...(enabled == null ? {} : { enabled }),
    channelType: channelType ?? kind,
    // Of another type it has fields that this one does not know.
    ...(kind === undefined ? {} : { config: channelType === undefined || channelType === kind ? given : config }),
  };
}

const kindOf = (config: ChannelConfigInput | null | undefined): [kind?: string, given?: object] =>
  Object.entries(config ?? {}).find(([, given]) => given != null) ?? [];

/** For the path of a fault in such an input, as the rules have it, the path in GraphQL, where the type of a config is part of it. */
export const inInput =
  (input: object) =>
  (path: string): string =>
    path.replace(/^channels\[(\d+)\]\.config(?=\.)/, (start, at: string) => {
      const [kind] = kindOf((input as GivenInput).channels?.[Number(at)]?.config);
      return kind === undefined ? start : `${start}.${kind}`;
    });
