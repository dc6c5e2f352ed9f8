import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More than any client sends ahead of the responses. Each takes memory before anything looks at it. */
const MAX_UNANSWERED = 32;

/** Everybody on the way of a request waits for the end of its response, and so do packing and streaming. */
const MOST_LISTENERS = 20;

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
    response.setMaxListeners(MOST_LISTENERS);
    response.once('close', () => {
      queue.shift();
      // A response that closes the connection is the last one: what was sent behind it must not take effect.
      if (request.socket.writable) begin(queue);
    });
    handle(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const queue = unanswered.get(socket) ?? [];
    unanswered.set(socket, queue);
    queue.push([request, response]);
    if (queue.length > MAX_UNANSWERED) end(socket);
    else if (queue.length === 1) begin(queue);
  };
}

/** Node's parser of a connection. It calls `onIncoming` with each head. */
interface Parsed {
  readonly parser?: { onIncoming: () => number } | null;
}

/** Closes a connection, and ends the parsing of what Node has read of it, which takes 28 ms for 64 KiB of small requests. */
function end(socket: Socket): void {
  const { parser } = socket as Parsed;
  // 0, 1 and 2 say how a body is to be read; any other number is an error.
  if (parser != null) parser.onIncoming = () => -1;
  socket.destroy();
}
