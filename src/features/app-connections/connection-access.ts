import { type Action, authorize, can, PermissionDenied } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import type { Found } from '../../kernel/database/batched.js';
import { AppError } from '../../kernel/errors.js';
import { isId, NO_ID } from '../../kernel/ids.js';
import type { ProjectReader } from '../projects/public.js';
import { type ConnectionRow, findConnections } from './connection.queries.js';

/** What is done to connections. */
export type Verb = 'read' | 'create' | 'edit' | 'delete' | 'connect';

/** The action in an organization, and that in a project. */
const ofOrganization = (verb: Verb): Action => `app-connections:${verb}`;
const ofProject = (verb: Verb): Action => `app-connections:${verb}-app-connections`;

/** What rules can look at. */
const fieldsOf = ({ id }: { readonly id: string }) => ({ connectionId: id });

/**
 * Who may do what to connections. Those of a project are for who may do it in the project; to read them the right in the organization
 * is enough, which lists them all.
 */
export class ConnectionAccess {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * A connection that was named by its id, for who may do this to it.
   *
   * @param app of which app it has to be; null: of any
   * @throws APP_CONNECTION_NOT_FOUND, PERMISSION_DENIED
   */
  async load(ctx: Context, { id, app = null }: { id: string; app?: string | null | undefined }, verb: Verb) {
    const { organizationId } = ctx;
    const [row] = isId(id) ? await findConnections(ctx, { organizationId, ids: [id] }) : [];
    // Looked for in any case, so that an id that nobody has takes the same statements as one that is hidden.
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
   * For who may do this in a project, or in the organization where there is none. @returns the id of the project
   *
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
   * Rows that were found by their ids, as far as the caller may read them, by id. Of one that it knows of and may not read there is a
   * denial; one of a project that it does not know of is not there.
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

  /** Of connections of one project, or of the organization and all its projects, those to which the caller may do this. */
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

  /** As `allowed`, of such of the organization itself, and of one project. @throws PERMISSION_DENIED to who may use none of either */
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

/** One of a project that the caller does not know of is answered as an id that nobody has. @throws always */
function hidden(ctx: Context, verb: Verb, fields: { readonly connectionId: string }): never {
  authorize(ctx, ofOrganization(verb), fields);
  throw new AppError('APP_CONNECTION_NOT_FOUND');
}
