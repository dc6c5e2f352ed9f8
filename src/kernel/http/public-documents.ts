import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readAddress } from '../addresses.js';
import type { Context, Kernel } from '../context.js';
import { matchingTag } from '../operations/responses/response.js';
import { type Download, type Downloading, mountDownload } from './downloads.js';

/** What programs without a token are given at a path, in bytes: nothing secret. */
export interface PublicDocument {
  readonly method: 'GET' | 'POST';
  /** As Fastify writes it. */
  readonly path: string;
  /** The media type of what is sent. Absent: nothing is. */
  readonly bodyType?: string;
  readonly answer: (asked: PublicRequest) => Promise<PublicResponse>;
}

/** What an answer is made of. */
export interface PublicRequest {
  readonly kernel: Kernel;
  /** The service itself in an organization. */
  readonly contextOf: (organizationId: string) => Context;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Empty where none is taken. */
  readonly body: Buffer;
}

/** Bytes, and how they are sent. */
export interface PublicResponse {
  readonly type: string;
  readonly bytes: Buffer;
  /** How long others may keep it; 0: not at all. */
  readonly maxAgeSeconds: number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route takes in place of JSON: it gets the bytes. */
    readonly bodyType?: string;
  }
}

const NO_BODY = Buffer.alloc(0);

/** Mounts documents that are public, which count as requests without a token, and downloads. */
export function mountDocuments(
  app: FastifyInstance,
  documents: readonly (PublicDocument | Download)[],
  served: Pick<PublicRequest, 'kernel' | 'contextOf'> & Downloading,
): void {
  const { kernel, contextOf, rateLimits } = served;
  for (const document of documents) {
    if ('open' in document) {
      mountDownload(app, document, served);
      continue;
    }
    const { method, path, bodyType, answer } = document;
    app.route({
      method,
      url: path,
      ...(bodyType !== undefined && { config: { bodyType } }),
      onRequest: async ({ ip }, reply) => rateLimits.takePublic(reply, { address: readAddress(ip) }),
      handler: async (request, reply) =>
        send(
          request,
          reply,
          await answer({
            ...{ kernel, contextOf },
            params: request.params as Record<string, string>,
            query: request.query as Record<string, unknown>,
            body: Buffer.isBuffer(request.body) ? request.body : NO_BODY,
          }),
        ),
    });
  }
}

function send({ headers, load, method }: FastifyRequest, reply: FastifyReply, made: PublicResponse): FastifyReply {
  const { type, bytes, maxAgeSeconds } = made;
  const isKept = method !== 'POST' && maxAgeSeconds > 0;
  reply.type(type).header('cache-control', isKept ? `public, max-age=${maxAgeSeconds}` : 'no-store');
  if (!isKept) return reply.send(bytes);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  reply.header('etag', etag);
  if (matchingTag(headers['if-none-match'], { headers: { etag } }) !== undefined) return reply.code(304).send();
  load.hold(bytes);
  return reply.send(bytes);
}
