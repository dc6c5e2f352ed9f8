import * as z from 'zod';
import { boundedPageRules } from '../../kernel/paging.js';
import { MESSAGE_STATES } from './message.entity.js';

export const messageState = z.enum(MESSAGE_STATES);

/** Arguments of lists of messages. */
export const MessagePage = z.strictObject({
  state: messageState.nullish().meta({ description: 'Only messages in this state.' }),
  ...boundedPageRules,
});
export type MessagePageRequest = z.output<typeof MessagePage>;
