import { z } from 'zod';
import { boundedPageRules } from '../../kernel/paging.js';
import { boundedPaging } from '../../rest/route.js';
import { MESSAGE_STATES } from './message.entity.js';

export const messageState = z.enum(MESSAGE_STATES);

/** Arguments of lists of messages. */
export const MessagePage = z.strictObject({
  state: messageState.nullish().meta({ description: 'Only those of this state.' }),
  ...boundedPageRules,
});
export type MessagePageRequest = z.output<typeof MessagePage>;

/** The same of a REST list. */
export const MessageQuery = z.strictObject({
  state: messageState.optional().meta({ description: 'Only those of this state.' }),
  ...boundedPaging,
});
