/** So long may heavy work block the event loop before it lets other requests run. */
const SLICE_MS = 10;
/** What takes less is light: it does not wait for others, and several waiters may go on in one turn until that much has passed. */
const LIGHT_MS = 1;
/** So many turns in a row are left to connections that arrive: Node accepts one in each turn. */
const MAX_ARRIVALS = 32;

/** Work that waits to go on, in order. One queue for the process, since there is one event loop. */
const waiting: (() => void)[] = [];
/** When the work of this turn of the event loop began; null before the first. */
let began: number | null = null;
let reset: NodeJS.Immediate | undefined;
let hasArrived = false;
/** Turns in a row that were left to connections. */
let arrivals = 0;

/** A connection was accepted: others may be waiting behind it, and heavy work is to make way for them. */
export function noteConnection(): void {
  hasArrived = true;
  setImmediate(() => (hasArrived = false));
}

/**
 * Resolves when the work of this turn of the event loop is done, usually in a later turn. Heavy work continues one waiter per turn, so
 * that arrived requests are read in between; with `setImmediate` alone, a hundred waiters would all continue in the same turn. Light
 * work does not wait behind a hundred others: while little time has passed, the next waiter continues in the same turn.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(beginTurn);
  });
}

function beginTurn(): void {
  if (isLeftToArrivals()) {
    setImmediate(beginTurn);
    return;
  }
  hasArrived = false;
  beginWork();
  resumeNext();
}

function beginWork(): number {
  clearImmediate(reset);
  reset = setImmediate(() => (began = null));
  began = performance.now();
  return began;
}

function resumeNext(): void {
  const [resume] = waiting;
  if (resume === undefined) return;
  if (performance.now() - (began ?? 0) >= LIGHT_MS) {
    setImmediate(beginTurn);
    return;
  }
  resume();
  // Behind all that the work does until it waits for something.
  queueMicrotask(() =>
    process.nextTick(() => {
      waiting.shift();
      resumeNext();
    }),
  );
}

/** Not for ever: whoever opens connections without end delays heavy work, and does not stop it. */
function isLeftToArrivals(): boolean {
  const isLeft = hasArrived && arrivals < MAX_ARRIVALS;
  arrivals = isLeft ? arrivals + 1 : 0;
  return isLeft;
}

/** True if heavy work, of all requests together, has taken its share of this turn. */
export function isTurnOver(): boolean {
  if (hasArrived) return true;
  return performance.now() - (began ?? beginWork()) >= SLICE_MS;
}

/** Lets other requests run if heavy work has taken its share of this turn. */
export async function yieldToEventLoop(): Promise<void> {
  if (isTurnOver()) await nextTurn();
}

/**
 * Does a piece of work when it is its turn. It begins as soon as that is known: many that come together would all be let through
 * by `yieldToEventLoop` before the first of them has taken any time.
 */
export async function whenTurnAllows<T>(work: () => T): Promise<T> {
  if (isTurnOver()) await nextTurn();
  return work();
}

/** Does a piece of work at once, and lets other requests run behind it if it was not light. */
export async function runAndYield<T>(work: () => T): Promise<T> {
  const since = performance.now();
  try {
    return work();
  } finally {
    if (performance.now() - since >= LIGHT_MS) await nextTurn();
  }
}

/**
 * Maps many items, and lets other requests run between them. A light list is mapped at once: it would wait behind heavy work for
 * much longer than it takes.
 */
export async function mapYielding<T, R>(items: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const results: R[] = [];
  const since = performance.now();
  let isLight = true;
  for (let index = 0; index < items.length; index += 1) {
    isLight &&= performance.now() - since < LIGHT_MS;
    if (!isLight && isTurnOver()) await nextTurn();
    results.push(map(items[index] as T, index));
  }
  if (!isLight) await yieldToEventLoop();
  return results;
}

/** Keeps those of many items that fit, in their order, as `mapYielding` maps them. */
export async function filterYielding<T>(items: readonly T[], fits: (item: T) => boolean): Promise<T[]> {
  const fitting = await mapYielding(items, fits);
  return items.filter((_, index) => fitting[index]);
}
