import { AsyncLocalStorage } from 'node:async_hooks';

const background = new AsyncLocalStorage<true>();

/** Runs work that serves no request: its SQL statements are counted apart from those of requests. */
export const inBackground = <T>(work: () => T): T => background.run(true, work);

/** Whether whoever asks is such work. */
export const isInBackground = (): boolean => background.getStore() === true;
