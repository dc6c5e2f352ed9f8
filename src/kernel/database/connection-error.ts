import { ConfigurationError, TemporaryError } from '../configuration-error.js';
import { codeOf } from '../log.js';

/** The connection cannot be used any more. Carries SQLSTATE connection_failure, so that nobody has to read messages. */
export class ConnectionLost extends Error {
  readonly code = '08006';

  constructor(cause?: unknown) {
    super('the connection to the database was lost', { cause });
    this.name = 'ConnectionLost';
  }
}

/** The server did not respond in time. Carries SQLSTATE query_canceled: the connection was destroyed, and with it the query. */
export class QueryDeadline extends Error {
  readonly code = '57014';

  constructor(cause: unknown) {
    super('the database did not respond in time', { cause });
    this.name = 'QueryDeadline';
  }
}

const LOST_STATEMENTS =
  'names a pooler that loses prepared statements; set DATABASE_POOLER=transaction and PREPARED_STATEMENTS=off';

/** What is wrong with a pooler that nobody has told of. */
export const UNDECLARED_POOLER =
  'names a pooler that lends each transaction another session; set DATABASE_POOLER=transaction, and PREPARED_STATEMENTS=off unless it keeps prepared statements (PgBouncer does since 1.21)';

/** What a failed connection means, by the code of the driver or of the server. No host, name or password is repeated. */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'has a user or password that the server rejects',
  '28000': 'names a server that rejects this user from this host, or without TLS',
  '3D000': 'names a database that does not exist',
  '42501': 'names a database that its user cannot access',
  '26000': LOST_STATEMENTS,
  '42P05': LOST_STATEMENTS,
  EACCES: 'names a socket that this user cannot access',
  SELF_SIGNED_CERT_IN_CHAIN: 'names a server whose certificate authority is unknown; set sslrootcert',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'names a server with a self-signed certificate; set sslrootcert',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'names a server whose certificate authority is unknown; set sslrootcert',
  UNABLE_TO_GET_ISSUER_CERT: 'names a server whose certificate authority is unknown; set sslrootcert',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'names a server whose certificate authority is unknown; set sslrootcert',
  CERT_HAS_EXPIRED: 'names a server whose certificate has expired',
  CERT_NOT_YET_VALID: 'names a server whose certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'names a server whose certificate is for another host',
};

/** The same of what passes by itself, as when a server is started together with the service. */
const TEMPORARY_REASONS: Readonly<Record<string, string>> = {
  // Of poolers: they accept connections while their database is away.
  '08P01': 'names a pooler that cannot reach its database',
  '57014': 'names a server that does not respond',
  '53300': 'names a server that has no free connections',
  '57P03': 'names a server that is starting up or shutting down',
  ECONNREFUSED: 'names a server that refuses connections; is it running?',
  ENOTFOUND: 'names a host that cannot be resolved',
  EAI_AGAIN: 'names a host that cannot be resolved',
  ENOENT: 'names a socket that does not exist',
  ETIMEDOUT: 'names a server that does not respond',
  EHOSTUNREACH: 'names a server that cannot be reached',
  ENETUNREACH: 'names a server that cannot be reached',
  ECONNRESET: 'names a server that closes the connection',
};

const NO_TLS = 'The server does not support SSL connections';

/**
 * A failed first connection, as one line for the operator instead of a stack trace.
 *
 * @returns a TemporaryError when the same settings may work later
 */
export function connectionError(error: unknown): ConfigurationError {
  const causes = [...causesOf(error)];
  // Ours says no more than its cause.
  const coded = causes.find((cause) => !(cause instanceof ConnectionLost) && codeOf(cause) !== null);
  const code = coded === undefined ? null : codeOf(coded);
  if (code === 'ENOENT' && (coded as NodeJS.ErrnoException).syscall === 'open')
    return new ConfigurationError(['DATABASE_URL names a file of a certificate or key that does not exist']);
  if (causes.some(({ message }) => message === NO_TLS))
    return new ConfigurationError(['DATABASE_URL requires TLS, which the server does not offer']);
  // The driver has no code for a server that says nothing, or that closes the connection.
  const passing = code === null ? 'names a server that does not respond as Postgres does' : TEMPORARY_REASONS[code];
  if (passing !== undefined) return new TemporaryError([`DATABASE_URL ${passing}`]);
  const reason = REASONS[code ?? ''] ?? `names a server that cannot be used (${code})`;
  return new ConfigurationError([`DATABASE_URL ${reason}`]);
}

/** An error and its causes. A host with several addresses fails with one error for each; the first is reported. */
function* causesOf(error: unknown): Generator<Error> {
  const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  for (let at = first; at instanceof Error; at = at.cause) yield at;
}
