import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../../kernel/load/fair-queue.js';

/** What the worker is given. */
export interface Pkcs12Question {
  readonly file: Uint8Array;
  readonly password: string;
}

/** What a PKCS#12 file holds, in DER; keys as PKCS#8. */
export interface Pkcs12Contents {
  readonly certificates: readonly Uint8Array[];
  readonly keys: readonly Uint8Array[];
}

/** What is wrong: the file, or the password. */
export type Pkcs12Fault = 'file' | 'password';

/** One of a caller at once, and up to four in all: a file that takes as long as it may holds up nobody else. */
const readers = new FairQueue({ capacity: 1, spare: 3, maxWaiting: 50 });
/** Passwords are hashed as often as the file says; common are 2,000 to 100,000 times. */
const TIME_LIMIT_MS = 15_000;
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Opens a PKCS#12 file, also an old one (RC2, triple DES), in a thread of its own: how long it takes is up to whoever made the file.
 *
 * @returns what is wrong: another password; or a file that is none, that takes longer than 15 seconds, or is of a kind that nobody uses
 * @throws OVERLOADED
 */
export async function readPkcs12(caller: string, question: Pkcs12Question): Promise<Pkcs12Contents | Pkcs12Fault> {
  const ticket = readers.enter(caller, 1);
  try {
    await ticket.turn;
    return await ask(question);
  } finally {
    ticket.end();
  }
}

async function ask(question: Pkcs12Question): Promise<Pkcs12Contents | Pkcs12Fault> {
  const worker = new Worker(new URL('./pkcs12-worker.js', import.meta.url), {
    workerData: question,
    env: {},
    resourceLimits: MEMORY,
  });
  const timer = setTimeout(() => void worker.terminate(), TIME_LIMIT_MS);
  try {
    return await new Promise((resolve) => {
      worker.once('message', resolve);
      // Out of memory, or ended.
      worker.once('error', () => resolve('file'));
      worker.once('exit', () => resolve('file'));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
