import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { callersNetwork, isWithin, readAddress } from '../addresses.js';
import { AppError, type ErrorCode, toEnvelope } from '../errors.js';
import { noteConnection } from '../event-loop.js';
import type { Log } from '../log.js';
import type { Endpoint } from './listening.js';

const STALL_MS = 60_000;
const IDLE_MS = 61_000;
const SWEEP_MS = 1_000;

/** What Node keeps of a socket's writes: bytes handed over, and those of them that the network has not taken yet. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

interface Progress {
  taken: number;
  at: number;
}

/** Connections that share a limit: all of the node, or those of one client address. */
interface Group {
  /** Null: all of the node. */
  readonly address: string | null;
  readonly limit: number;
  open: number;
  /** Without a request that is not answered yet; the one that has been idle longest comes first. */
  readonly idle: Set<Use>;
}

/** One open connection. */
interface Use {
  /** Null when it has ended: what a set leaves behind may refer to its entries for long, and a socket to all of its last request. */
  socket: Socket | null;
  /** Requests that are not answered yet. */
  pending: number;
  idleSince: number;
  readonly groups: readonly Group[];
}

interface Limits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Their connections are those of many clients, so only the limit of the node holds for them. */
  readonly trustedProxies: readonly string[];
  readonly log: Log;
}

/**
 * Limits connections: their number, on the node and for each client address, 60 s for a client that reads nothing of its response,
 * and 61 s without a request. Where a limit is reached, the connection that has been idle longest is closed for the new one; if
 * none is idle, the new one is closed unread, since a response would cost what the limit is to save.
 *
 * Not `server.maxConnections`, which drops the new connection before anybody could choose. Nor `server.timeout` and
 * `keepAliveTimeout`: they look at bytes in either direction, so a client that reads nothing and keeps sending would never be
 * late, nor one that sends blank lines, which are no request; and they take what the network buffered at first for progress. A
 * client that reads, however slowly, stays.
 */
export function boundConnections(app: FastifyInstance, limits: Limits): void {
  const connections = new Connections(limits);
  app.server.on('connection', (socket: Socket) => connections.admit(socket));
  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (socket.destroyed) return;
    connections.begin(socket);
    response.once('close', () => connections.end(socket));
  });
  const sweep = setInterval(() => connections.sweep(), SWEEP_MS).unref();
  app.addHook('onClose', async () => clearInterval(sweep));
}

class Connections {
  readonly #open = new Set<Use>();
  readonly #uses = new WeakMap<Socket, Use>();
  readonly #all: Group;
  readonly #byAddress = new Map<string, Group>();
  readonly #stalled = new Map<Socket, Progress>();
  #refused = 0;
  #closedIdle = 0;

  constructor(private readonly limits: Limits) {
    this.#all = { address: null, limit: limits.maxConnections, open: 0, idle: new Set() };
  }

  /** Takes a new connection in, or closes it where there is no room and none to be made. */
  admit(socket: Socket): void {
    const groups = [...this.#groupOfAddress(socket), this.#all];
    for (const group of groups) {
      if (group.open < group.limit) continue;
      const [longest] = group.idle;
      if (longest === undefined || longest.socket === null) {
        this.#refused += 1;
        socket.destroy();
        return;
      }
      this.#closedIdle += 1;
      // Its place is free at once: the socket itself says that it is closed only later.
      const { socket: idle } = longest;
      this.#release(longest);
      idle.destroy();
    }
    noteConnection();
    const use = { socket, pending: 0, idleSince: performance.now(), groups };
    this.#open.add(use);
    this.#uses.set(socket, use);
    for (const group of groups) {
      group.open += 1;
      group.idle.add(use);
      if (group.address !== null) this.#byAddress.set(group.address, group);
    }
    socket.once('close', () => this.#release(use));
  }

  begin(socket: Socket): void {
    const use = this.#uses.get(socket);
    if (use === undefined || use.socket === null) return;
    use.pending += 1;
    for (const { idle } of use.groups) idle.delete(use);
  }

  end(socket: Socket): void {
    const use = this.#uses.get(socket);
    if (use === undefined || use.socket === null) return;
    use.pending -= 1;
    use.idleSince = performance.now();
    if (use.pending === 0) for (const { idle } of use.groups) idle.add(use);
  }

  /** Closes connections that are idle or stalled for too long, and logs what the limits did. */
  sweep(): void {
    const { log, maxConnections: limit } = this.limits;
    if (this.#refused > 0) log.warn('connections refused', { count: this.#refused, limit });
    if (this.#closedIdle > 0) log.warn('idle connections closed', { count: this.#closedIdle, limit });
    this.#refused = 0;
    this.#closedIdle = 0;
    const now = performance.now();
    for (const { socket, pending, idleSince } of this.#open) {
      if (socket === null) continue;
      const isIdle = pending === 0 && now - idleSince >= IDLE_MS;
      if (isIdle || isStalled(socket, this.#stalled, now)) socket.destroy();
    }
  }

  /** The group of the client's address; none for a trusted proxy. */
  #groupOfAddress({ remoteAddress }: Socket): Group[] {
    const address = readAddress(remoteAddress);
    if (address === null || isWithin(this.limits.trustedProxies, address)) return [];
    const network = callersNetwork(address);
    const limit = this.limits.maxConnectionsPerAddress;
    return [this.#byAddress.get(network) ?? { address: network, limit, open: 0, idle: new Set() }];
  }

  #release(use: Use): void {
    const { socket } = use;
    if (socket === null) return;
    use.socket = null;
    this.#open.delete(use);
    this.#stalled.delete(socket);
    for (const group of use.groups) {
      group.open -= 1;
      group.idle.delete(use);
      if (group.open === 0 && group.address !== null) this.#byAddress.delete(group.address);
    }
  }
}

function isStalled(socket: Socket, stalled: Map<Socket, Progress>, now: number): boolean {
  const handle = (socket as unknown as { _handle: Handle | null })._handle;
  if (socket.writableLength === 0 || handle === null) {
    stalled.delete(socket);
    return false;
  }
  const taken = handle.bytesWritten - handle.writeQueueSize;
  const last = stalled.get(socket);
  if (last?.taken === taken) return now - last.at >= STALL_MS;
  stalled.set(socket, { taken, at: now });
  return false;
}

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
export function inRequestOrder(handle: RequestListener): RequestListener {
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

declare module 'fastify' {
  interface FastifyInstance {
    readonly acceptors: Acceptors;
  }
}

/** Sockets that listen on the port, where the system lets several do so. Only those of the same user may. */
const LISTENERS = process.platform === 'linux' ? 8 : 1;
const OPTIONS: ListenOptions = LISTENERS > 1 ? { reusePort: true } : {};

/**
 * Accepts connections of a server. Node accepts one connection of each listening socket in a turn of the event loop, so that whoever
 * opens hundreds at once would delay a newcomer, a health check for example, by as many turns. With several such sockets it is an
 * eighth of that.
 */
export class Acceptors {
  readonly #further: Server[] = [];
  #claim: Server | null = null;

  constructor(private readonly app: FastifyInstance) {}

  /** @returns the address of the service. @throws what `listen` throws, EADDRINUSE also where another service has the port */
  async listen({ host, port }: Endpoint): Promise<string> {
    const { app } = this;
    if (LISTENERS > 1 && port !== 0) this.#claim = await claim(host, port);
    const url = await app.listen({ host, port, ...OPTIONS });
    const { address, port: given } = app.server.address() as AddressInfo;
    for (let count = 1; count < LISTENERS; count += 1) {
      const further = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
        app.server.emit('connection', socket),
      );
      await once(further.listen({ host: address, port: given, ...OPTIONS }), 'listening');
      this.#further.push(further);
    }
    return url;
  }

  /** Accepts no more. Resolves when all connections have ended. */
  async close(): Promise<void> {
    const servers = [this.app.server, ...this.#further].filter(({ listening }) => listening);
    const ended = servers.map((server) => once(server, 'close'));
    for (const server of [...servers, this.#claim]) server?.close();
    await Promise.all(ended);
  }
}

/**
 * Takes the port for this process. Where a port may be shared, two services of one user that start at the same time would otherwise
 * both get it, and each half of the requests. The name is one of the system, not of a file: it is free when its holder has ended,
 * however that came.
 */
async function claim(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen({ path: `\0strongroom ${host} ${port}` });
  await once(server, 'listening');
  return server.unref();
}

/** By Node's code; anything else is no HTTP. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** Long enough for a client to read why; what it still sends is not read. */
const LINGER_MS = 500;

/**
 * Answers requests that no route and no reply object sees, because Node's parser refused them or gave up waiting: the envelope
 * is written to the socket itself, in its turn after the answers to requests before it, and the connection is closed.
 */
export class RawRefusals {
  /** The answers of a connection that are not sent yet, and the one before them. */
  readonly #answers = new WeakMap<Socket, readonly ServerResponse[]>();

  /** @param headers those of every answer */
  constructor(private readonly headers: Readonly<Record<string, string>>) {}

  /** Follows what a server answers. */
  watch(server: HttpServer): void {
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      if (socket.destroyed) return;
      const unsent = (this.#answers.get(socket) ?? []).filter(({ writableFinished }) => !writableFinished);
      this.#answers.set(socket, [...unsent, response]);
    });
    // Node answers these without a body, or not at all. It has taken its listeners away: an error of the socket would end the process.
    server.on('connect', (_request, socket: Socket) => {
      socket.on('error', () => undefined);
      this.refuse(new Error('no proxy'), socket);
    });
    // An expectation that nobody knows may be passed over (RFC 9110, 10.1.1).
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  }

  refuse = (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const answers = this.#answers.get(socket) ?? [];
    const before = answers.find(({ req, writableFinished }) => req.complete && !writableFinished);
    if (before !== undefined) return void before.once('close', () => this.refuse(error, socket));
    // The request has its answer already: what was wrong with it was seen before its body came to an end.
    if (answers.some(({ req, headersSent }) => !req.complete && headersSent)) return void socket.destroy();
    socket.end(this.#answer(CODES[error.code ?? ''] ?? 'MALFORMED_REQUEST'));
    // Destroyed at once, with bytes unread, the client would see a reset in place of the answer. Nothing more is parsed:
    // a request that was told that it came too late must not run when its rest arrives after all.
    socket.removeAllListeners('data').on('data', () => undefined);
    const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(linger));
  };

  #answer(code: ErrorCode): string {
    const { statusCode, body } = toEnvelope(new AppError(code), randomUUID());
    const text = JSON.stringify(body);
    const headers = {
      ...this.headers,
      'x-request-id': body.reqId,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return `${[`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`, ...lines].join('\r\n')}\r\n\r\n${text}`;
  }
}
