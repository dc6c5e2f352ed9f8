import { Page, timeCursorKey, timePageBounds } from '../../kernel/paging.js';
import type { MessageState } from './message.entity.js';
import type { MessagePageRequest } from './message.rules.js';

/** Which messages a page has, as statements of `messagePages` take it. */
export interface MessageBounds {
  readonly state: MessageState | null;
  readonly time: string | null;
  readonly afterId: string | null;
  readonly limit: number | null;
}

/** Of the newest message alone. */
export const NEWEST_MESSAGE: MessageBounds = { state: null, time: null, afterId: null, limit: 1 };

/** @throws VALIDATION_FAILED for a cursor of another list */
export function messageBounds(request: MessagePageRequest): MessageBounds {
  const { time, id: afterId, limit } = timePageBounds(request);
  return { state: request.state ?? null, time, afterId, limit };
}

/** A page of messages that were found within its bounds. */
export const messagePage = <M extends { readonly id: string; readonly createdAt: Date }>(
  rows: readonly M[],
  request: MessagePageRequest,
): Page<M> => new Page(rows, request, ({ id, createdAt }) => timeCursorKey(createdAt, id));
