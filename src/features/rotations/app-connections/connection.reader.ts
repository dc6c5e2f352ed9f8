import type { Context } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { validationFailed } from '../../../kernel/validation.js';
import { type ConnectionRow, findConnections, findConnectionsOfAccount } from './connection.queries.js';
import type { ConnectionAccess } from './connection-access.js';
import { openSecrets } from './connection-sealing.js';
import { refuseAll } from './connection-uses.js';
import { type App, kindOf } from './kinds.js';

/** A connection that a caller can use, without its secrets. */
export type UsableConnection = Pick<
  ConnectionRow,
  'id' | 'app' | 'name' | 'organizationId' | 'projectId' | 'publicPart' | 'version'
>;

/** Decrypted credentials: public fields, and secret fields that are never logged. */
export type OpenedConnection = Readonly<Record<string, string | number | null | SealedText>> & { readonly app: App };

/** What other slices do with connections. */
export class ConnectionReader {
  constructor(private readonly access: ConnectionAccess) {}

  /**
   * Loads a connection that the caller can use (`connect`) in a project.
   *
   * @param path path of the connection ID in the request
   * @throws APP_CONNECTION_NOT_FOUND, PERMISSION_DENIED; VALIDATION_FAILED at `path` if it is of another app or project
   */
  async loadUsable(
    ctx: Context,
    wanted: {
      readonly connectionId: string;
      readonly app: App;
      readonly projectId: string;
      readonly path?: string;
    },
  ): Promise<UsableConnection> {
    const { connectionId, app, projectId, path = 'connectionId' } = wanted;
    const row = await this.access.load(ctx, { id: connectionId }, 'connect');
    const violations = [
      ...(row.app === app ? [] : [`must be a connection of the app ${app}`]),
      ...(row.projectId === null || row.projectId === projectId.toLowerCase()
        ? []
        : ['must be a connection of this project or of the organization']),
    ];
    if (violations.length > 0)
      throw validationFailed(violations.map((message) => ({ path, code: 'INVALID', message })));
    const { id, name, organizationId, projectId: ofProject, publicPart, version } = row;
    return { id, app, name, organizationId, projectId: ofProject, publicPart, version };
  }

  /** @throws ACCOUNT_OF_CONNECTION, with the connections that the caller can read and the number of others in the details */
  async refuseAccountOf(ctx: Context, accountDigest: Buffer): Promise<void> {
    const rows = await findConnectionsOfAccount(ctx, { organizationId: ctx.organizationId, accountDigest });
    const readable = await this.access.readable(ctx, rows);
    const shown = [...readable.values()].flatMap((found) =>
      found instanceof Error
        ? []
        : [{ path: `connections.${found.id}`, message: `used by the connection ${found.name}` }],
    );
    const others = { path: 'connections', message: 'used by connections that you cannot read' };
    refuseAll('ACCOUNT_OF_CONNECTION', rows.length, { shown, others });
  }
}

/**
 * Decrypts the credentials of a connection for a call of the service itself, in a job or a request. Does not authorize the caller.
 *
 * @throws APP_CONNECTION_NOT_FOUND, SEALED_VALUE_INVALID
 */
export async function openConnection(ctx: Context, connectionId: string): Promise<OpenedConnection> {
  const { organizationId } = ctx;
  const row = await loadRow(ctx, findConnections, { organizationId, ids: [connectionId] }, 'APP_CONNECTION_NOT_FOUND');
  const secrets = await openSecrets(ctx, kindOf(row.app), row);
  return { ...(row.publicPart as Record<string, string | number | null>), ...secrets, app: row.app };
}
