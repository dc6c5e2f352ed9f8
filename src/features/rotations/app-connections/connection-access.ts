import { type Action, authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Found } from '../../../kernel/database/batched.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError, invalid } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { validationFailed } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { type ConnectionRow, findConnections, findConnectionsOfAccount } from './connection.sql.js';
import { openSecrets } from './connection-sealing.js';
import { refuseWithObstacles } from './connection-uses.js';
import { type App, kindOf } from './kinds.js';

/** Actions on connections. */
type Verb = 'read' | 'create' | 'edit' | 'delete' | 'connect';

/** The same action in an organization and in a project. */
const ofOrganization = (verb: Verb): Action => `app-connections:${verb}`;
const ofProject = (verb: Verb): Action => `app-connections:${verb}-app-connections`;

/** The fields that conditions of rules compare. */
const fieldsOf = ({ id }: { readonly id: string }) => ({ connectionId: id });

/**
 * Authorization of connections. A connection of a project needs the right in the project; for reading, the right in the organization,
 * which lists all connections, is enough.
 */
export class ConnectionAccess {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Loads a connection by ID for a caller that can do this to it.
   *
   * @param app the app that it must be of; null: any
   * @throws APP_CONNECTION_NOT_FOUND, PERMISSION_DENIED
   */
  async load(ctx: Context, { id, app = null }: { id: string; app?: string | null | undefined }, verb: Verb) {
    const { organizationId } = ctx;
    const [row] = isId(id) ? await findConnections(ctx, { organizationId, ids: [id] }) : [];
    // Always looked up, so that unknown and hidden IDs take the same statements.
    const project = await this.projects.find(ctx, row?.projectId ?? NO_ID);
    const fields = { connectionId: row?.id ?? id.toLowerCase() };
    if (row !== undefined && row.projectId !== null) {
      const isAllowed = project !== undefined && can(project.ability, ofProject(verb), fields);
      const isReader = can(ctx.ability, ofOrganization('read'), fields);
      if (!isAllowed && !(verb === 'read' && isReader)) {
        if (project === undefined && !isReader) return hidden(ctx, verb, fields);
        throw new PermissionDenied({ action: ofProject(verb), projectId: row.projectId });
      }
    } else authorize(ctx, ofOrganization(verb), fields);
    if (row === undefined || (app !== null && row.app !== app)) throw new AppError('APP_CONNECTION_NOT_FOUND');
    return row;
  }

  /**
   * Authorizes an action in a project, or in the organization if there is none.
   *
   * @returns the project ID
   * @throws PROJECT_NOT_FOUND, PERMISSION_DENIED
   */
  async authorize(ctx: Context, projectId: string | null | undefined, verb: Verb): Promise<string | null> {
    if (projectId == null) {
      authorize(ctx, ofOrganization(verb));
      return null;
    }
    return (await this.projects.authorized(ctx, projectId, ofProject(verb))).projectId;
  }

  /**
   * The given rows that the caller can read, by ID. A row that it knows of but cannot read is an error; a row of a project that it does
   * not know of is left out.
   */
  async readable<Row extends Pick<ConnectionRow, 'id' | 'projectId'>>(
    ctx: Context,
    rows: readonly Row[],
  ): Promise<Found<Row>> {
    const owning = rows.flatMap(({ projectId }) => projectId ?? []);
    const projects = await this.projects.listOwning(ctx, owning);
    const found = rows.flatMap((row): [string, Row | Error][] => {
      const project = row.projectId === null ? undefined : projects.get(row.projectId);
      const isAllowed =
        can(ctx.ability, ofOrganization('read'), fieldsOf(row)) ||
        (project !== undefined && can(project.ability, ofProject('read'), fieldsOf(row)));
      if (isAllowed) return [[row.id, row]];
      if (row.projectId !== null && project === undefined) return [];
      const action = row.projectId === null ? ofOrganization('read') : ofProject('read');
      return [[row.id, new PermissionDenied({ action, projectId: row.projectId })]];
    });
    return new Map(found);
  }

  /** The connections of one project, or of the organization and all its projects, on which the caller can do this. */
  async allowed<Row extends Pick<ConnectionRow, 'id'>>(
    ctx: Context,
    projectId: string | null,
    verb: Verb,
    rows: readonly Row[],
  ): Promise<Row[]> {
    const ability = projectId === null ? ctx.ability : (await this.projects.load(ctx, projectId)).ability;
    const action = projectId === null ? ofOrganization(verb) : ofProject(verb);
    return rows.filter((row) => can(ability, action, fieldsOf(row)));
  }

  /** Like `allowed`, for connections of the organization itself and of one project. @throws PERMISSION_DENIED if it can use neither */
  async usable<Row extends Pick<ConnectionRow, 'id' | 'projectId'>>(
    ctx: Context,
    projectId: string | null,
    list: (ownProjectId: string | null) => Promise<readonly Row[]>,
  ): Promise<Row[]> {
    const project = projectId === null ? undefined : await this.projects.load(ctx, projectId);
    const isProject = project !== undefined && can(project.ability, ofProject('connect'));
    if (!isProject && !can(ctx.ability, ofOrganization('connect'))) {
      if (project !== undefined) authorize(project, ofProject('connect'));
      authorize(ctx, ofOrganization('connect'));
    }
    return (await list(project?.projectId ?? null)).filter((row) =>
      row.projectId === null
        ? can(ctx.ability, ofOrganization('connect'), fieldsOf(row))
        : project !== undefined && can(project.ability, ofProject('connect'), fieldsOf(row)),
    );
  }
}

/** A connection of a project unknown to the caller is reported like an unknown ID. @throws always */
function hidden(ctx: Context, verb: Verb, fields: { readonly connectionId: string }): never {
  authorize(ctx, ofOrganization(verb), fields);
  throw new AppError('APP_CONNECTION_NOT_FOUND');
}

/** A connection that a caller can use, without its secrets. */
type UsableConnection = Pick<
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
    requested: {
      readonly connectionId: string;
      readonly app: App;
      readonly projectId: string;
      readonly path?: string;
    },
  ): Promise<UsableConnection> {
    const { connectionId, app, projectId, path = 'connectionId' } = requested;
    const row = await this.access.load(ctx, { id: connectionId }, 'connect');
    const violations = [
      ...(row.app === app ? [] : [`must be a connection of the app ${app}`]),
      ...(row.projectId === null || row.projectId === projectId.toLowerCase()
        ? []
        : ['must be a connection of this project or of the organization']),
    ];
    if (violations.length > 0) throw validationFailed(violations.map((message) => invalid(path, message)));
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
    refuseWithObstacles('ACCOUNT_OF_CONNECTION', rows.length, { shown, others });
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
