import type { FastifyError, FastifyReply } from 'fastify';
import { AppError, type ErrorCode, toAppError, toEnvelope } from '../errors.js';

declare module 'fastify' {
  interface FastifyReply {
    /** What the answer says went wrong; null when nothing did. */
    errorCode: ErrorCode | null;
  }
}

/** Fastify's own refusals, by its code. Everything else of its own with a 4xx status is a malformed request. */
const FASTIFY_CODES: Readonly<Record<string, ConstructorParameters<typeof AppError>[0]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_MAX_PARAM_LENGTH: 'ROUTE_NOT_FOUND',
};

/** Answers an error in the one shape. */
export function sendError(reply: FastifyReply, requestId: string, thrown: unknown): FastifyReply {
  const { statusCode, headers, body } = toEnvelope(thrown, requestId);
  return noteError(reply, body)
    .code(statusCode)
    .headers({ 'cache-control': 'no-store', ...headers })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

/** Says what an answer is about, for those who count answers. */
export function noteError(reply: FastifyReply, { code }: { readonly code: ErrorCode }): FastifyReply {
  reply.errorCode = code;
  return reply;
}

/** Our error for one that Fastify threw, or that reached it. */
export function translate(error: FastifyError | AppError): AppError {
  if (error instanceof AppError) return error;
  const code = FASTIFY_CODES[error.code];
  if (code !== undefined) return new AppError(code);
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500 ? new AppError('MALFORMED_REQUEST') : toAppError(error);
}
