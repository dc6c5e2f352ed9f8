import { ConfigurationFault } from '../configuration-fault.js';
import { codeOf } from '../log.js';
import { ConnectionLost } from './bounded-client.js';

/** What a failed connection means, by the code of the driver or of the server. No host, name or password is repeated. */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'has a user or password that the server rejects',
  '28000': 'names a server that rejects this user from this host',
  '3D000': 'names a database that does not exist',
  '42501': 'names a database that its user cannot access',
  '53300': 'names a server that has no free connections',
  '57P03': 'names a server that is starting up or shutting down',
  ECONNREFUSED: 'names a server that refuses connections; is it running?',
  ENOTFOUND: 'names a host that cannot be resolved',
  EAI_AGAIN: 'names a host that cannot be resolved',
  ENOENT: 'names a socket that does not exist',
  EACCES: 'names a socket that this user cannot access',
  ETIMEDOUT: 'names a server that does not respond',
  EHOSTUNREACH: 'names a server that cannot be reached',
  ENETUNREACH: 'names a server that cannot be reached',
  ECONNRESET: 'names a server that closes the connection',
};

/**
 * A failed first connection, as one line for the operator instead of a stack trace.
 */
export function connectionFault(error: unknown): ConfigurationFault {
  const code = firstCode(error);
  const reason = code === null ? 'names a server that does not respond as Postgres does' : REASONS[code];
  return new ConfigurationFault([`DATABASE_URL ${reason ?? `names a server that cannot be used (${code})`}`]);
}

/** A host with several addresses fails with one error for each; the first is reported. */
function firstCode(error: unknown): string | null {
  const first = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  for (let at: unknown = first; at instanceof Error; at = at.cause) {
    const code = codeOf(at);
    // Ours says no more than its cause.
    if (code !== null && !(at instanceof ConnectionLost)) return code;
  }
  return null;
}
