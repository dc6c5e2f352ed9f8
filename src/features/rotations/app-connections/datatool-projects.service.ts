import type { Context } from '../../../kernel/context.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { type Page, pageOf } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { ListProjects } from './connection.rules.js';
import { type ConnectionAccess, openConnection } from './connection-access.js';
import { inTime } from './connection-checks.js';
import { DatatoolClient, type DatatoolCredentials, type DatatoolProject } from './datatool/datatool-client.js';
import { DATATOOL, datatoolCredentialsOf } from './datatool/datatool-kind.js';
import { refusalOf, TargetFailure } from './kind/target-failure.js';

/** IDs of the external system have up to 16 digits. */
const DIGITS = 16;

/** Projects of a datatool account. */
export class DatatoolProjectsService {
  constructor(
    private readonly access: ConnectionAccess,
    private readonly policy: TargetPolicy,
  ) {}

  /**
   * Lists projects of the account of a connection that the caller can use, by number. Every call asks the external system.
   *
   * @throws VALIDATION_FAILED, APP_CONNECTION_NOT_FOUND, PERMISSION_DENIED, UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE,
   *   SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async list(
    ctx: Context,
    raw: unknown,
  ): Promise<Page<DatatoolProject> & { readonly totalCount: () => Promise<number> }> {
    const { connectionId, ...page } = parse(ListProjects, raw);
    const row = await this.access.load(ctx, { id: connectionId, app: DATATOOL.app }, 'connect');
    const credentials = datatoolCredentialsOf(await openConnection(ctx, row.id));
    const projects = await this.#ask(ctx, credentials);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'app-connection:list-projects',
      projectId: row.projectId,
      facts: { connectionId: row.id, count: projects.length },
    });
    const shown = pageOf(projects, page, 1, ({ id }) => [String(id).padStart(DIGITS, '0')]);
    return Object.assign(shown, { totalCount: async () => projects.length });
  }

  async #ask(ctx: Context, credentials: DatatoolCredentials): Promise<readonly DatatoolProject[]> {
    try {
      return await inTime(new DatatoolClient(credentials, this.policy).projects(ctx));
    } catch (error) {
      throw error instanceof TargetFailure ? refusalOf(error, 'connectionId') : error;
    }
  }
}
