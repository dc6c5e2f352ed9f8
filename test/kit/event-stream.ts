import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Caller } from './caller.ts';
import { until } from './until.ts';

const WITHIN_MS = 20_000;

/** An event as a client gets it. */
export interface StreamEvent {
  readonly id: string | null;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  readonly data: any;
}

/** A client of server-sent events, as far as tests need one: it reads what comes, and remembers the last ID. */
export class EventStreamClient {
  readonly events: StreamEvent[] = [];
  /** Comments since the beginning. */
  heartbeats = 0;
  lastId: string | null = null;
  isEnded = false;
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Of a response that is no stream. */
  text = '';
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  #rest = '';

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    response.on('close', () => {
      this.isEnded = true;
    });
    response.on('error', () => undefined);
  }

  /** Opens a stream. */
  static open(
    { url, token }: Caller,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<EventStreamClient> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        new URL(path, url),
        {
          agent: false,
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            accept: 'text/event-stream',
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
        },
        (response) => resolve(new EventStreamClient(request, response)),
      );
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** The response as JSON, once it has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  async body(): Promise<any> {
    await until('the response ends', WITHIN_MS, () => this.isEnded);
    return JSON.parse(this.text);
  }

  /** Waits until there are that many events. */
  async count(number: number): Promise<readonly StreamEvent[]> {
    await until(`${number} events`, WITHIN_MS, () => this.events.length >= number);
    return this.events;
  }

  /** Waits for an event. */
  async find(what: string, isIt: (event: StreamEvent) => boolean): Promise<StreamEvent> {
    await until(what, WITHIN_MS, () => this.events.some(isIt));
    return this.events.find(isIt) as StreamEvent;
  }

  /** Stops reading, as a client that hangs does. */
  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  /** Cuts the connection. */
  close(): void {
    this.#response.destroy();
    this.#request.destroy();
  }

  #take(text: string): void {
    this.text += text;
    const frames = (this.#rest + text).split('\n\n');
    this.#rest = frames.pop() ?? '';
    for (const frame of frames) this.#read(frame);
  }

  #read(frame: string): void {
    const fields = new Map<string, string>();
    for (const line of frame.split('\n')) {
      if (line.startsWith(':')) this.heartbeats += 1;
      const [, name = '', value = ''] = /^([^:]+):? ?(.*)$/.exec(line) ?? [];
      if (name !== '') fields.set(name, value);
    }
    const id = fields.get('id');
    if (id !== undefined) this.lastId = id;
    const data = fields.get('data');
    if (data === undefined) return;
    this.events.push({
      id: id ?? null,
      event: fields.get('event') ?? 'message',
      data: data === '' ? null : JSON.parse(data),
    });
  }
}
