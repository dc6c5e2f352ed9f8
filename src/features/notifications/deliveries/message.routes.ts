import * as z from 'zod';
import { boundedPaging } from '../../../rest/route.js';
import { messageState } from './message.rules.js';

/** The query of REST lists of messages. */
export const MessageQuery = z.strictObject({
  state: messageState.optional().meta({ description: 'Only items in this state.' }),
  ...boundedPaging,
});
