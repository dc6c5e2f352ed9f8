// Rules that a test tries alone throw codes that their slices declare.
import './error-codes.js';
import { expect } from '@jest/globals';
import type { Reply } from './caller.ts';

declare global {
  namespace jest {
    interface Matchers<R> {
      /** The reply is this error in the one shape: over REST the envelope, over GraphQL the first error's extensions. */
      toBeError(status: number, code: string): R;
    }
  }
}

const ENVELOPE = ['code', 'error', 'message', 'reqId', 'statusCode'];

expect.extend({
  toBeError(reply: Reply, status: number, code: string) {
    const [graphql] = (reply.body?.errors ?? []) as { message: string; extensions: Record<string, unknown> }[];
    const error = graphql === undefined ? reply.body : { ...graphql.extensions, message: graphql.message, error: '' };
    const keys = Object.keys(error ?? {})
      .filter((key) => key !== 'details')
      .sort();
    const hasShape = JSON.stringify(keys) === JSON.stringify(ENVELOPE) && error.reqId === reply.headers['x-request-id'];
    const pass =
      hasShape &&
      error.code === code &&
      error.statusCode === status &&
      (graphql !== undefined || reply.status === status);
    return {
      pass,
      message: () =>
        `expected ${status} ${code}${hasShape ? '' : ' in the shape of errors'}, got ${reply.status} ${error?.code ?? ''} (reqId ${error?.reqId ?? '-'}, body ${reply.text.slice(0, 600)})`,
    };
  },
});
