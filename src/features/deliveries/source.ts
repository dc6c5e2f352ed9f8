import type { Context, Transaction } from '../../kernel/context.js';
import type { ChannelType, Notification, Target } from '../notifications/public.js';

/** A channel as whoever sends finds it, with its config still sealed. */
export interface Sender {
  readonly id: string;
  readonly organizationId: string;
  /** Null: of an organization. */
  readonly projectId: string | null;
  readonly channelType: ChannelType;
  /** Another one: it may send to another target. */
  readonly configVersion: number;
  readonly isEnabled: boolean;
}

/** What a slice that notifies knows of its channels and messages. */
export interface Source<S extends Sender = Sender> {
  /** It stands in the database: never rename one that was released. */
  readonly name: string;
  /** Name and description of the job that sends. */
  readonly job: { readonly name: string; readonly description: string };
  /** A channel; undefined when it was removed. */
  find(ctx: Context, channelId: string): Promise<S | undefined>;
  /** Its targets. Only now its config is opened. @throws SEALED_VALUE_INVALID */
  targets(ctx: Context, sender: S): Promise<readonly Target[]>;
  /** What a message says; a code when there is nothing to say any more. */
  compose(
    ctx: Context,
    sender: S,
    message: { readonly id: string; readonly event: string },
  ): Promise<Notification | { readonly errorCode: string }>;
  /** Made by `cancelUnless`. */
  cancel(tx: Transaction, params: { readonly channelId: string; readonly errorCode: string }): Promise<unknown>;
}
