import { Page, timeCursorKey, timePageBounds } from '../../kernel/paging.js';
import type { MessageState } from './message.entity.js';
import type { MessagePageRequest } from './message.rules.js';

/** The messages of a page, as parameters of `messagePages`. */
export interface MessageBounds {
  readonly state: MessageState | null;
  readonly time: string | null;
  readonly afterId: string | null;
  readonly limit: number | null;
}

/** The newest message only. */
export const NEWEST_MESSAGE: MessageBounds = { state: null, time: null, afterId: null, limit: 1 };

/** @throws VALIDATION_FAILED for a cursor of another list */
export function messageBounds(request: MessagePageRequest): MessageBounds {
  const { time, id: afterId, limit } = timePageBounds(request);
  return { state: request.state ?? null, time, afterId, limit };
}

/** Makes a page of the messages that were found. */
export const messagePage = <M extends { readonly id: string; readonly createdAt: Date }>(
  rows: readonly M[],
  request: MessagePageRequest,
): Page<M> => new Page(rows, request, ({ id, createdAt }) => timeCursorKey(createdAt, id));
