/** The part of autocannon that the bench uses; the package has no types of its own. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface Request {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    body?: string;
    setupRequest?: (request: Request) => Request;
  }

  interface Options {
    readonly url: string;
    readonly connections: number;
    readonly duration: number;
    readonly timeout: number;
    readonly requests: readonly Request[];
    /** Requests a second of all connections together; absent: as many as are answered. */
    readonly overallRate?: number;
  }

  interface Result {
    /** Connections that broke. */
    readonly errors: number;
    readonly timeouts: number;
    /** Seconds. */
    readonly duration: number;
  }

  interface Run extends EventEmitter, PromiseLike<Result> {
    on(event: 'response', heard: (client: unknown, status: number, bytes: number, milliseconds: number) => void): this;
  }

  export default function autocannon(options: Options): Run;
}
