import { nextTurn } from './event-loop.js';

/** Shorter lists are executed at once: it takes a few milliseconds. */
const AT_ONCE = 500;

/**
 * A list whose items are executed some at a time, and other requests run between them. GraphQL executes a plain list in one go, and
 * waits for items that are promises.
 */
export function paced<T>(items: readonly T[]): readonly T[] {
  if (items.length <= 2 * AT_ONCE) return items;
  const list: (T | Promise<T>)[] = items.slice(0, AT_ONCE);
  let turn: Promise<void> = Promise.resolve();
  for (let at = AT_ONCE; at < items.length; at += AT_ONCE) {
    turn = turn.then(nextTurn);
    const { length } = list;
    const due = turn;
    for (const item of items.slice(length, length + AT_ONCE)) list.push(due.then(() => item));
  }
  return list as T[];
}
