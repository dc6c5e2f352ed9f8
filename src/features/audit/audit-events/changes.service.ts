import { canAlways } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { ChangesOfProject } from './event.rules.js';
import { type ChangeGroup, type EventRow, listChanges } from './event.sql.js';

/** Changes of one kind, newest first. */
interface ChangesOfKind {
  readonly events: readonly EventRow[];
  /** Whether there are more of the kind. */
  readonly hasMore: boolean;
}

/** What changed in a project. Null: the caller may not see that kind. */
export type ProjectChanges = Readonly<Record<Exclude<ChangeGroup, 'tokens'>, ChangesOfKind>> & {
  readonly projectId: string;
  readonly tokens: ChangesOfKind | null;
};

/** What changed in projects. Every method throws VALIDATION_FAILED, PERMISSION_DENIED, PROJECT_NOT_FOUND and AUDIT_UNAVAILABLE. */
export class ChangesService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Changes of a project since a time by kind, in one statement.
   *
   * @param raw `{ projectId, since, first }`; the rules are `ChangesOfProject`
   */
  async list(ctx: Context, raw: unknown): Promise<ProjectChanges> {
    const { projectId: requested, since, first } = parse(ChangesOfProject, raw);
    const { projectId, ability } = await this.projects.authorized(ctx, requested, 'audit-logs:read');
    // Their changes belong to the organization: only who may see the accounts of the project sees these.
    const withTokens = canAlways(ability, 'identity:read') && canAlways(ability, 'member:read');
    const { organizationId } = ctx;
    const rows = await listChanges(ctx, { organizationId, projectId, since, withTokens, limit: String(first + 1) });
    // Tokens are looked for by themselves.
    const isCut = (group: ChangeGroup): boolean =>
      rows.some((row) => row.isCut && (row.group === 'tokens') === (group === 'tokens'));
    const ofKind = (group: ChangeGroup): ChangesOfKind => {
      const events = rows.filter((row) => row.group === group);
      return { events: events.slice(0, first), hasMore: events.length > first || isCut(group) };
    };
    await ctx.auditTrail.recordRead(ctx, {
      action: 'audit-event:list-changes',
      projectId,
      facts: { count: rows.length },
    });
    return {
      projectId,
      secrets: ofKind('secrets'),
      roles: ofKind('roles'),
      members: ofKind('members'),
      tokens: withTokens ? ofKind('tokens') : null,
      others: ofKind('others'),
    };
  }
}
