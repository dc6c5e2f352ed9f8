import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** A reply, as a client sees it. `body` is the parsed JSON; null for none, and for what is no JSON. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly body: any;
  readonly text: string;
}

export interface RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly rawBody?: string | Buffer;
  /** How long the service may be silent. */
  readonly withinMs?: number;
}

/** Less than a test may take, and more than the service lets any request take. */
const RESPONSE_WITHIN_MS = 60_000;
/** The same of a patient client, which asks again. */
const PATIENCE_MS = 180_000;

const agent = new Agent({ keepAlive: true, maxSockets: 100 });

/** Connections that wait for a next request of this file. */
export const closeIdleConnections = (): void => agent.destroy();

/** A client with a token, or without. */
export class Caller {
  readonly url: string;
  readonly token: string | null;
  /** The machine identity behind the token, where it is known. */
  readonly identityId: string;
  readonly #isPatient: boolean;

  constructor(url: string, token: string | null, identityId = '', isPatient = false) {
    this.url = url;
    this.token = token;
    this.identityId = identityId;
    this.#isPatient = isPatient;
  }

  /** The same client without its token. */
  get anonymous(): Caller {
    return new Caller(this.url, null, '', this.#isPatient);
  }

  /**
   * The same client, for crowds: whenever the service is too busy for a request, it sends it again when it is told to, with the same
   * idempotency key.
   */
  get patient(): Caller {
    return new Caller(this.url, this.token, this.identityId, true);
  }

  /** The same token at another node. */
  at(url: string): Caller {
    return new Caller(url, this.token, this.identityId, this.#isPatient);
  }

  async request(options: RequestOptions): Promise<Reply> {
    if (!this.#isPatient) return this.#send(options);
    const isRead = this.token === null || options.method === 'GET';
    const key: Record<string, string> = isRead ? {} : { 'idempotency-key': randomUUID() };
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const reply = await this.#send({ ...options, headers: { ...key, ...options.headers } });
      if (!isTooBusy(reply) || performance.now() > deadline) return reply;
      await delay(Number(reply.headers['retry-after'] ?? 1) * 1_000);
    }
  }

  #send({ method, path, headers = {}, body, rawBody, withinMs = RESPONSE_WITHIN_MS }: RequestOptions): Promise<Reply> {
    const payload = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        new URL(path, this.url),
        {
          agent,
          method,
          timeout: withinMs,
          headers: {
            ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
            ...(payload === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers as Record<string, string>,
              text,
              body: parsed(text),
            });
          });
        },
      );
      sent.on('error', reject);
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} was not answered within ${withinMs} ms`)));
      sent.end(payload);
    });
  }

  get(path: string, headers?: Record<string, string>): Promise<Reply> {
    return this.request({ method: 'GET', path, ...(headers === undefined ? {} : { headers }) });
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.request({ method: 'POST', path, body, headers });
  }

  patch(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.request({ method: 'PATCH', path, body, headers });
  }

  put(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.request({ method: 'PUT', path, body, headers });
  }

  delete(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.request({ method: 'DELETE', path, body, headers });
  }

  graphql(query: string, variables?: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Reply> {
    return this.post('/graphql', { query, variables }, headers);
  }

  /** The data of a GraphQL operation that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  async data(query: string, variables?: Record<string, unknown>): Promise<any> {
    return mustSucceed(await this.graphql(query, variables)).body.data;
  }
}

/** For steps that are not what a test is about. */
export function mustSucceed(reply: Reply): Reply {
  if (reply.status !== 200 || reply.body?.errors !== undefined)
    throw new Error(`expected success, got ${reply.status}: ${reply.text}`);
  return reply;
}

/** Whether an answer says that the same request may be answered later. */
export function isTooBusy({ body, status }: Reply): boolean {
  const { statusCode = status, code = body?.code } = body?.errors?.[0]?.extensions ?? {};
  return statusCode === 503 || statusCode === 504 || code === 'IDEMPOTENCY_RUNNING';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
