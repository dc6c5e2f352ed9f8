import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../../kernel/load/fair-queue.js';

/** Input of the worker. */
export interface Pkcs12Question {
  readonly file: Uint8Array;
  readonly password: string;
}

/** Content of a PKCS#12 file, in DER; keys as PKCS#8. */
export interface Pkcs12Contents {
  readonly certificates: readonly Uint8Array[];
  readonly keys: readonly Uint8Array[];
}

/** What is invalid: the file or the password. */
export type Pkcs12Error = 'file' | 'password';

/** One at a time per caller and four in total, so that slow files do not delay others. */
const readers = new FairQueue({ capacity: 1, spare: 3, maxWaiting: 50 });
/** Key derivation uses the iteration count of the file; 2,000 to 100,000 are common. */
const TIME_LIMIT_MS = 15_000;
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Decrypts a PKCS#12 file, also in old formats (RC2, triple DES), in a worker thread, because the file determines how long it takes.
 *
 * @returns the reason if it failed: a wrong password; or an invalid file, one that takes longer than 15 seconds, or an unusual format
 * @throws OVERLOADED
 */
export async function readPkcs12(caller: string, question: Pkcs12Question): Promise<Pkcs12Contents | Pkcs12Error> {
  const ticket = readers.enter(caller, 1);
  try {
    await ticket.turn;
    return await ask(question);
  } finally {
    ticket.end();
  }
}

async function ask(question: Pkcs12Question): Promise<Pkcs12Contents | Pkcs12Error> {
  const worker = new Worker(new URL('./pkcs12-worker.js', import.meta.url), {
    workerData: question,
    env: {},
    resourceLimits: MEMORY,
  });
  const timer = setTimeout(() => void worker.terminate(), TIME_LIMIT_MS);
  try {
    return await new Promise((resolve) => {
      worker.once('message', resolve);
      // Out of memory, or terminated.
      worker.once('error', () => resolve('file'));
      worker.once('exit', () => resolve('file'));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
