import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { callersNetwork, isWithin, readAddress } from '../addresses.js';
import { noteArrival } from '../event-loop.js';
import type { Log } from '../log.js';

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
    noteArrival();
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
