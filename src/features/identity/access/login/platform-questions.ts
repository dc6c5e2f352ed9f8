import { AppError } from '../../../../kernel/errors.js';
import { FairQueue, type Ticket } from '../../../../kernel/load/fair-queue.js';

/** Of one organization to one host, per node: as many as start together in a cluster have their turn, and a flood has an end. */
const BOUNDS = { capacity: 8, spare: 2, maxWaiting: 100 };
/** How long a login waits for a platform, its turn included. Clusters and issuers need a twentieth of it, a second when they are busy. */
export const PLATFORM_MS = 2_500;

/** On whose behalf a platform is asked. */
interface Asking {
  readonly rootOrganizationId: string;
  /** The identity that logs in. */
  readonly actorId: string;
}

/**
 * Questions to platforms, a few at once to each: who needs no token to ask must not make a flood of them. Identities take turns, so that
 * a flood at one of them delays the others by one question. No organization has a part in the queue of another for the same host.
 */
export class PlatformQuestions {
  /** By organization and host, as long as somebody asks. */
  readonly #queues = new Map<string, FairQueue>();

  /**
   * A question that takes too long goes on, and keeps its place in the queue: a platform that hangs is not asked more for it.
   *
   * @returns null where too many ask or the platform is too slow, and whatever `question` returns
   */
  async ask<T>(asking: Asking, url: string, question: () => Promise<T>): Promise<T | null> {
    const name = JSON.stringify([asking.rootOrganizationId, new URL(url).host]);
    const queue = this.#queues.get(name) ?? new FairQueue(BOUNDS);
    this.#queues.set(name, queue);
    const ticket = queue.enter(asking.actorId, 1);
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(() => {
      ticket.cancel();
      late.resolve(null);
    }, PLATFORM_MS);
    try {
      return await Promise.race([this.#answer(name, queue, ticket, question), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #answer<T>(name: string, queue: FairQueue, ticket: Ticket, question: () => Promise<T>): Promise<T | null> {
    try {
      await ticket.turn;
      return await question();
    } catch (error) {
      if (error instanceof AppError && error.code === 'OVERLOADED') return null;
      throw error;
    } finally {
      ticket.end();
      const { running, waiting } = queue.figures;
      if (running + waiting === 0) this.#queues.delete(name);
    }
  }
}
