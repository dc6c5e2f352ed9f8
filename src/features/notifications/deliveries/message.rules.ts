import * as z from 'zod';
import { boundedPageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';
import { MESSAGE_STATES } from './message.entity.js';

export const messageState = z.enum(MESSAGE_STATES);

/** Arguments of lists of messages. */
export const MessagePage = z.strictObject({
  state: messageState.nullish().meta({ description: 'Only messages in this state.' }),
  ...boundedPageRules,
});
/** Which failed and cancelled messages to retry. */
export const RETRIED = {
  channelId: idOf('ID of a channel: only its messages.').nullish(),
  since: z.date().nullish().meta({ description: 'Only messages that were created at or after this time.' }),
  dryRun: z.boolean().default(false).meta({ description: 'Whether to only count the messages.' }),
};

export type MessagePageRequest = z.output<typeof MessagePage>;
