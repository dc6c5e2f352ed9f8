import type { ServerResponse } from 'node:http';
import type { Ticket } from '../../load/fair-queue.js';

/** Holds a place in a queue until a request has ended: its handler, or the connection if there was no handler yet. */
export class RequestEnd {
  #ticket: Ticket | null = null;
  #isHandled = false;
  #isClosed = false;

  constructor(response: ServerResponse) {
    response.once('close', () => {
      this.#isClosed = true;
      this.#leaveUnhandled();
    });
  }

  /** Waits for the turn that a place gives. @throws OVERLOADED, also when nobody waits for the response any more */
  async hold(ticket: Ticket): Promise<void> {
    this.#ticket = ticket;
    if (this.#isClosed) this.#leaveUnhandled();
    await ticket.turn;
  }

  /** Runs the handler of the request. */
  async around<T>(handler: () => Promise<T>): Promise<T> {
    this.#isHandled = true;
    try {
      return await handler();
    } finally {
      this.#ticket?.end();
    }
  }

  #leaveUnhandled(): void {
    this.#ticket?.cancel();
    if (!this.#isHandled) this.#ticket?.end();
  }
}
