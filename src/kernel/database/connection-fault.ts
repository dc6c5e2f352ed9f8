import { ConfigurationFault } from '../configuration-fault.js';
import { codeOf } from '../log.js';
import { ConnectionLost } from './bounded-client.js';

/** What a failed connection means, by the code of the driver or of the server. No host, name or password is repeated. */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'names a server that refuses the user or the password',
  '28000': 'names a server that refuses this user from here',
  '3D000': 'names a database that its server does not have',
  '42501': 'names a database that its user may not use',
  '53300': 'names a server that has no connection left',
  '57P03': 'names a server that is starting or stopping',
  ECONNREFUSED: 'names a server that refuses connections; is it running?',
  ENOTFOUND: 'names a host that cannot be found',
  EAI_AGAIN: 'names a host that cannot be found',
  ENOENT: 'names a socket that does not exist',
  EACCES: 'names a socket that this user may not use',
  ETIMEDOUT: 'names a server that does not answer',
  EHOSTUNREACH: 'names a server that cannot be reached',
  ENETUNREACH: 'names a server that cannot be reached',
  ECONNRESET: 'names a server that hangs up',
};

/**
 * The first connection of a start did not come about: said in one line, and not as an error of the program.
 *
 * Source: reliability P14.
 */
export function connectionFault(error: unknown): ConfigurationFault {
  const code = firstCode(error);
  const reason = code === null ? 'names a server that does not answer as Postgres does' : REASONS[code];
  return new ConfigurationFault([`DATABASE_URL ${reason ?? `names a server that cannot be used (${code})`}`]);
}

/** A host with several addresses fails with one error for each; they are told by the first. */
function firstCode(error: unknown): string | null {
  const first = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  for (let at: unknown = first; at instanceof Error; at = at.cause) {
    const code = codeOf(at);
    // Ours says no more than its cause.
    if (code !== null && !(at instanceof ConnectionLost)) return code;
  }
  return null;
}
