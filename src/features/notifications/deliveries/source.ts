import type { Context, Transaction } from '../../../kernel/context.js';
import type { ChannelType, Notification, Target } from '../sending/public.js';

/** A channel as needed for sending, its config still sealed. */
export interface Sender {
  readonly id: string;
  readonly organizationId: string;
  /** Null: the channel belongs to an organization. */
  readonly projectId: string | null;
  readonly channelType: ChannelType;
  /** If it changes, the channel may have another target. */
  readonly configVersion: number;
  readonly isEnabled: boolean;
}

/** What a slice provides to send notifications. */
export interface Source<S extends Sender = Sender> {
  /** Stored in the database: never rename a released one. */
  readonly name: string;
  /** Name and description of the sending job. */
  readonly job: { readonly name: string; readonly description: string };
  /** Finds a channel; undefined if it was deleted. */
  find(ctx: Context, channelId: string): Promise<S | undefined>;
  /** Its targets. Decrypts the config. @throws SEALED_VALUE_INVALID */
  targets(ctx: Context, sender: S): Promise<readonly Target[]>;
  /** Renders a message; an error code if there is nothing to send any more. */
  compose(
    ctx: Context,
    sender: S,
    message: { readonly id: string; readonly event: string },
  ): Promise<Notification | { readonly errorCode: string }>;
  /**
   * Locks the owner of a channel against changes and against checks that write its messages. Taken before messages are cancelled or
   * replaced, so that a check sees them as they are afterwards.
   */
  lock(tx: Transaction, sender: S): Promise<unknown>;
}
