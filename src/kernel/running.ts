import { AsyncLocalStorage } from 'node:async_hooks';

/** What runs, in names of ours: nothing that a caller sent. */
export interface Running {
  readonly requestId?: string;
  /** Method and pattern of the path. */
  readonly route?: string;
  readonly job?: string;
  readonly task?: string;
  /** As the route names it, or the root fields of its document. */
  operation?: string | (() => string) | undefined;
}

const current = new AsyncLocalStorage<Running>();

/** Runs work, and all that it causes, under a name. */
export const runAs = <T>(running: Running, work: () => T): T => current.run(running, work);

/** What runs turns out to be this operation. */
export function noteOperation(operation: string): void {
  const running = current.getStore();
  if (running !== undefined) running.operation = operation;
}

/** Where the watchdog finds out what runs: it asks from another thread, while the event loop is blocked. */
Object.defineProperty(globalThis, Symbol.for('strongroom.running'), {
  value: (): object => {
    const { operation, ...names } = current.getStore() ?? {};
    return { ...names, operation: typeof operation === 'function' ? operation() : operation };
  },
});
