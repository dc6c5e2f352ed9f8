import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { type Context, isTransaction } from '../context.js';
import { inSpan } from '../tracing/spans.js';
import { networkError, OutboundError } from './outbound-error.js';
import { checkedAddresses, type TargetPolicy, untilAborted } from './target-addresses.js';

export type { TargetPolicy } from './target-addresses.js';

const CONNECT_MS = 5_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_HEADERS = 100;
const MAX_RETRY_AFTER_SECONDS = 86_400;
/** A response that asks for patience: 5xx too. */
const TRY_LATER: readonly number[] = [408, 425, 429];

/** A request to an external system. */
export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** For all of it: resolving the name, connecting, sending and receiving. */
  readonly limitMs: number;
  /** How long a body may be; null for callers that need the status alone, so that no body can fail or delay the call. */
  readonly maxResponseBytes: number | null;
  /** Certificates that are trusted in place of the public ones, in PEM; null: the public ones. */
  readonly caCertificate?: string | null;
}

/** A 2xx response. Its body is as it was sent: it is not decompressed. */
export interface OutboundResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Sends a request to an external system. The name is resolved once; the connection is made to an address that was checked, and
 * the certificate is verified for the name. Redirects are not followed, proxies of the environment are not used, and the
 * connection is closed after the response.
 *
 * @returns a response with a status of 2xx
 * @throws OutboundError TARGET_REFUSED for a private address, another scheme than https, or credentials in the address;
 *   TARGET_UNREACHABLE, TARGET_TIMED_OUT, TARGET_CERTIFICATE, TARGET_RESPONSE_INVALID; TARGET_REJECTED for any other status
 * @throws Error inside a transaction
 */
export async function send(ctx: Context, request: OutboundRequest, policy: TargetPolicy): Promise<OutboundResponse> {
  if (isTransaction(ctx)) throw new Error('an external system was called inside a transaction');
  const span = { name: request.method, kind: 'client', attributes: { 'http.request.method': request.method } } as const;
  return inSpan(
    () => span,
    (error) => (error instanceof OutboundError ? error.code : 'error'),
    () => sendChecked(request, policy),
  );
}

async function sendChecked(request: OutboundRequest, policy: TargetPolicy): Promise<OutboundResponse> {
  const url = callableUrl(request.url, policy);
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(), request.limitMs);
  try {
    const addresses = await untilAborted(clock.signal, checkedAddresses(bareHost(url), policy));
    return accepted(await untilAborted(clock.signal, exchange(url, addresses, request, clock.signal)));
  } finally {
    clearTimeout(timer);
  }
}

function callableUrl(text: string, { allowPrivateTargets }: TargetPolicy): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isCallable =
    url !== null &&
    (url.protocol === 'https:' || (allowPrivateTargets && url.protocol === 'http:')) &&
    url.username === '' &&
    url.password === '';
  if (!isCallable) throw new OutboundError('TARGET_REFUSED');
  return url;
}

/** The host without the brackets of IPv6. */
const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Resolves every name to these addresses: a second question could have another answer. */
const pinnedTo = (addresses: readonly string[]): LookupFunction => {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = entries;
  return (_name, { all }, done) => (all ? done(null, entries) : done(null, first?.address ?? '', first?.family));
};

const exchange = (
  url: URL,
  addresses: readonly string[],
  { method, headers, body, maxResponseBytes, caCertificate = null }: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(networkError(error));
    const host = bareHost(url);
    const isTls = url.protocol === 'https:';
    const outgoing = (isTls ? https : http).request(url, {
      method,
      headers: {
        'User-Agent': 'Strongroom',
        'Accept-Encoding': 'identity',
        ...headers,
        ...(body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
      // An agent of its own: no proxy, no connection and no TLS session of another request.
      agent: false,
      lookup: pinnedTo(addresses),
      ...(caCertificate === null ? {} : { ca: caCertificate }),
      servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    });
    outgoing.maxHeadersCount = MAX_HEADERS;
    outgoing.once('socket', (socket) => limitConnecting(socket, isTls, fail));
    outgoing.on('error', fail);
    // Without a listener the request would neither fail nor end.
    outgoing.once('upgrade', (_, socket) => {
      fail(new OutboundError('TARGET_RESPONSE_INVALID'));
      socket.destroy();
    });
    outgoing.once('response', (incoming) => {
      const response = { status: incoming.statusCode as number, headers: incoming.headers };
      incoming.on('error', fail);
      if (maxResponseBytes === null || !isAccepted(response.status)) {
        resolve({ ...response, body: Buffer.alloc(0) });
        outgoing.destroy();
      } else collect(incoming, maxResponseBytes).then((received) => resolve({ ...response, body: received }), fail);
    });
    outgoing.end(body ?? undefined);
  });

function limitConnecting(socket: Socket, isTls: boolean, fail: (error: Error) => void): void {
  const timer = setTimeout(() => {
    fail(new OutboundError('TARGET_TIMED_OUT'));
    socket.destroy();
  }, CONNECT_MS);
  for (const event of [isTls ? 'secureConnect' : 'connect', 'close']) socket.once(event, () => clearTimeout(timer));
}

/** @throws OutboundError TARGET_RESPONSE_INVALID for one that is too long */
async function collect(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the connection.
    if (bytes > maxBytes) throw new OutboundError('TARGET_RESPONSE_INVALID');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const isAccepted = (status: number): boolean => status >= 200 && status <= 299;

/** @throws OutboundError TARGET_REJECTED */
function accepted(response: OutboundResponse): OutboundResponse {
  const { status, headers } = response;
  if (isAccepted(status)) return response;
  throw new OutboundError('TARGET_REJECTED', {
    status,
    isTemporary: status >= 500 || TRY_LATER.includes(status),
    retryAfterSeconds: retryAfter(headers['retry-after']),
  });
}

/** Seconds of `Retry-After`; null for a date, which few send. */
const retryAfter = (value: string | undefined): number | null =>
  value !== undefined && /^\d{1,9}$/.test(value) ? Math.min(Number(value), MAX_RETRY_AFTER_SECONDS) : null;
