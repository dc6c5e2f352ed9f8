import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More than any client sends ahead of the responses. Each takes memory before anything looks at it. */
const MAX_UNANSWERED = 32;

type Exchange = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * Handles the requests of a connection one after the other: the next one begins when the response before it has been handed over to
 * the network. So a client that does not read is not written to, however many requests it sends ahead (pipelining), and the work
 * for one connection is one request. More than 32 requests without a response end the connection.
 *
 * Node would begin all of them at once, and would stop reading the connection only behind the bytes that it has read already,
 * which hold two thousand requests.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  /** Requests of each connection that are not answered yet; the first one is being handled. */
  const unanswered = new WeakMap<Socket, Exchange[]>();
  const begin = (queue: Exchange[]): void => {
    const [next] = queue;
    if (next === undefined) return;
    const [request, response] = next;
    response.once('close', () => {
      queue.shift();
      if (!request.socket.destroyed) begin(queue);
    });
    handle(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    // Node goes on with what it had read when the connection ended.
    if (socket.destroyed) return;
    const queue = unanswered.get(socket) ?? [];
    unanswered.set(socket, queue);
    queue.push([request, response]);
    if (queue.length > MAX_UNANSWERED) socket.destroy();
    else if (queue.length === 1) begin(queue);
  };
}
