import { Worker } from 'node:worker_threads';
import { AppError } from '../../../kernel/errors.js';
import { FairQueue } from '../../../kernel/load/fair-queue.js';

/** Input of the worker. */
export interface Pkcs12Input {
  readonly file: Uint8Array;
  readonly password: string;
}

/** Content of a PKCS#12 file, in DER; keys as PKCS#8. */
export interface Pkcs12Contents {
  readonly certificates: readonly Uint8Array[];
  readonly keys: readonly Uint8Array[];
}

/** What is invalid: the file, the password, or the number of iterations that the file asks for. */
export type Pkcs12Error = 'file' | 'password' | 'iterations';

/** One at a time per caller and four in total, so that slow files do not delay others. */
const readers = new FairQueue({ capacity: 1, spare: 3, maxWaiting: 50 });
/** The file determines how long its keys take: 2,000 to 100,000 iterations each are common, well below a second. */
const TIME_LIMIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 5;
const TOO_SLOW = 'Reading the PKCS#12 file took longer than 15 seconds. Retry when less is going on.';
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Decrypts a PKCS#12 file, also in old formats (RC2, RC4, triple DES), in a worker thread, because the file determines how long it takes.
 *
 * @returns the reason if it failed: a wrong password; too many iterations; or an invalid file, or one in an unusual format
 * @throws OVERLOADED, also when it takes longer than 15 seconds: the same file may be read when less is going on
 */
export async function readPkcs12(caller: string, question: Pkcs12Input): Promise<Pkcs12Contents | Pkcs12Error> {
  const ticket = readers.enter(caller, 1);
  try {
    await ticket.turn;
    return await ask(question);
  } finally {
    ticket.end();
  }
}

async function ask(question: Pkcs12Input): Promise<Pkcs12Contents | Pkcs12Error> {
  const worker = new Worker(new URL('./pkcs12-worker.js', import.meta.url), {
    workerData: question,
    env: {},
    resourceLimits: MEMORY,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const later = (message?: string): void =>
        reject(new AppError('OVERLOADED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      timer = setTimeout(() => later(TOO_SLOW), TIME_LIMIT_MS);
      worker.once('message', resolve);
      // The memory is what the file takes; anything else is not its fault.
      worker.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve('file') : later(),
      );
      worker.once('exit', () => later());
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
