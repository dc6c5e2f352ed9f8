import { authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { Found } from '../../../kernel/database/batched.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { validationFailed } from '../../../kernel/validation.js';
import type { IdentityAction, IdentityReader } from '../../identity/identities/public.js';
import type { ProjectReader } from '../../projects/public.js';
import { findMember } from './credential.sql.js';
import { type AlertRow, findAlerts } from './identity-alert.queries.js';

const READ = 'identity:read';
const NOT_FOUND = 'IDENTITY_ALERT_NOT_FOUND';

/** What changes to alerts need. */
export const EDIT: readonly IdentityAction[] = ['identity:edit', READ];

/** Whose an alert is, and whose credentials it watches. */
interface AlertOwner {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly identityId: string;
}

/**
 * Who may do what to alerts of identities: who may read or edit the identity in the project of the alert, or in the organization where
 * the alert has no project.
 */
export class AlertAccess {
  constructor(
    private readonly projects: ProjectReader,
    private readonly identities: IdentityReader,
  ) {}

  /**
   * The owner of a new alert, for who may edit the identity there.
   *
   * @throws PROJECT_NOT_FOUND, IDENTITY_NOT_FOUND, PERMISSION_DENIED; VALIDATION_FAILED for an identity that a project owns and no project
   */
  async owner(
    ctx: Context,
    { projectId, identityId }: { readonly projectId?: string | null | undefined; readonly identityId: string },
  ): Promise<AlertOwner> {
    if (projectId == null) {
      const identity = await this.identities.authorized(ctx, identityId, EDIT);
      if (identity.projectId !== null)
        throw validationFailed([
          { path: 'projectId', code: 'MISSING', message: 'required, because a project owns the identity' },
        ]);
      for (const action of EDIT) authorize(ctx, action, { identityId: identity.id });
      return { organizationId: ctx.organizationId, projectId: null, identityId: identity.id };
    }
    const project = await this.projects.load(ctx, projectId);
    const id = identityId.toLowerCase();
    for (const action of EDIT) authorize(project, action, { identityId: id });
    const { organizationId } = project;
    const [member] = await findMember(ctx, { projectId: project.projectId, identityId: isId(id) ? id : NO_ID });
    if (member === undefined) throw new AppError('IDENTITY_NOT_FOUND');
    return { organizationId, projectId: project.projectId, identityId: id };
  }

  /**
   * An alert by its id, for who may do all this to it. An alert of the organization that the caller may not read is not there: clients
   * with rights in projects only recognize an alert that is gone by 404, and nobody can tell which ids exist.
   *
   * @throws IDENTITY_ALERT_NOT_FOUND, PERMISSION_DENIED
   */
  async load(ctx: Context, id: string, actions: readonly IdentityAction[]): Promise<AlertRow> {
    const { organizationId } = ctx;
    const [row] = isId(id) ? await findAlerts(ctx, { organizationId, ids: [id] }) : [];
    // Looked for in any case, so that an id that nobody has takes the same statements as one that is hidden.
    const project = await this.projects.find(ctx, row?.projectId ?? NO_ID);
    if (row === undefined) throw new AppError(NOT_FOUND);
    const fields = { identityId: row.identityId };
    if (row.projectId === null ? !can(ctx.ability, READ, fields) : project === undefined) throw new AppError(NOT_FOUND);
    for (const action of actions) authorize(project ?? ctx, action, fields);
    return row;
  }

  /**
   * For who may read identities in a project, or in the organization where there is none.
   *
   * @param identityId of an identity that the caller has to know of, if any
   * @returns the project, and whether the caller may read alerts of an identity there
   * @throws PROJECT_NOT_FOUND, IDENTITY_NOT_FOUND, PERMISSION_DENIED
   */
  async list(
    ctx: Context,
    { projectId, identityId }: { readonly projectId?: string | null; readonly identityId?: string | null },
  ): Promise<{ readonly projectId: string | null; readonly isReadable: (row: AlertRow) => boolean }> {
    const project = projectId == null ? null : await this.projects.authorized(ctx, projectId, READ);
    if (project === null) authorize(ctx, READ);
    if (identityId != null) await this.#knows(ctx, project?.projectId ?? null, identityId);
    const { ability } = project ?? ctx;
    return {
      projectId: project?.projectId ?? null,
      isReadable: (row) => can(ability, READ, { identityId: row.identityId }),
    };
  }

  /** Rows that were found by their ids, as far as the caller may read them, by id. */
  async readable<Row extends Pick<AlertRow, 'id' | 'projectId' | 'identityId'>>(
    ctx: Context,
    rows: readonly Row[],
  ): Promise<Found<Row>> {
    const owning = rows.flatMap(({ projectId }) => projectId ?? []);
    const projects = await this.projects.listOwning(ctx, owning);
    const found = rows.flatMap((row): [string, Row | Error][] => {
      const project = row.projectId === null ? undefined : projects.get(row.projectId);
      if (row.projectId !== null && project === undefined) return [];
      const { ability } = project ?? ctx;
      if (can(ability, READ, { identityId: row.identityId })) return [[row.id, row]];
      return row.projectId === null ? [] : [[row.id, new PermissionDenied({ action: READ, projectId: row.projectId })]];
    });
    return new Map(found);
  }

  /** @throws IDENTITY_NOT_FOUND, PERMISSION_DENIED */
  async #knows(ctx: Context, projectId: string | null, identityId: string): Promise<void> {
    if (projectId === null) {
      await this.identities.authorized(ctx, identityId, READ);
      return;
    }
    const [member] = await findMember(ctx, { projectId, identityId: isId(identityId) ? identityId : NO_ID });
    if (member === undefined) throw new AppError('IDENTITY_NOT_FOUND');
  }
}
