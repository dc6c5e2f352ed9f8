/** Configs by type of channel, in the form in which they are sealed. */
export interface ChannelConfigs {
  readonly email: {
    readonly recipients: readonly string[];
    /** Users and groups whose addresses are resolved when a message is sent. */
    readonly userIds?: readonly string[] | undefined;
    readonly groupIds?: readonly string[] | undefined;
  };
  readonly webhook: { readonly url: string; readonly signingSecret: string | null };
  readonly slack: { readonly webhookUrl: string };
  readonly pagerduty: { readonly integrationKey: string };
}

/** Types of channels. */
export const CHANNEL_TYPES = [
  'email',
  'webhook',
  'slack',
  'pagerduty',
] as const satisfies readonly (keyof ChannelConfigs)[];
export type ChannelType = (typeof CHANNEL_TYPES)[number];

/** The destination of one delivery: a channel, or one recipient of an email channel. */
export type Target =
  | { readonly type: 'email'; readonly recipient: string }
  | ({ readonly type: 'webhook' } & ChannelConfigs['webhook'])
  | ({ readonly type: 'slack' } & ChannelConfigs['slack'])
  | ({ readonly type: 'pagerduty' } & ChannelConfigs['pagerduty']);

/** The target of one type. */
export type TargetOf<T extends ChannelType> = Extract<Target, { readonly type: T }>;

/** The targets of a channel, in the order of its config. */
export function targetsOf<T extends ChannelType>(type: T, config: ChannelConfigs[T]): readonly Target[] {
  if ('recipients' in config) return config.recipients.map((recipient) => ({ type: 'email', recipient }));
  return [{ type, ...config } as Target];
}
