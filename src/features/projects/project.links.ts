import { type Action, can } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { environmentsByIds, type ReadEnvironment } from './environment.service.js';
import { type MembershipRecord, membershipsByIds, membershipsOfMembers } from './membership.records.js';
import { type MemberKind, subjectOf } from './membership.rules.js';
import type { ProjectReader } from './project.reader.js';
import type { ProjectAccess } from './project.records.js';
import type { ProjectService, ReadProject } from './project.service.js';

/**
 * Projects, environments and memberships that answers lead to by their ids, each kind in one statement for all of an answer.
 * What the caller would be refused, or would not find, by the root field of that kind is not there.
 */
export class ProjectLinks {
  constructor(
    private readonly reader: ProjectReader,
    private readonly service: ProjectService,
  ) {}

  /** Whole projects by id. */
  readonly projects: BatchLoad<ReadProject> = async (ctx, ids) => {
    const found = await this.service.listByIds(ctx, ids);
    return new Map(found.map((project) => [project.access.projectId, project]));
  };

  /** Environments by id. */
  readonly environments: BatchLoad<ReadEnvironment> = async (ctx, ids) => {
    const rows = await environmentsByIds(ctx, ids);
    const access = await this.accessTo(ctx, rows);
    return new Map(
      rows.flatMap((environment) => {
        const project = access.get(environment.projectId);
        return project !== undefined && can(project.ability, 'environments:read')
          ? [[environment.id, { environment, access: project }]]
          : [];
      }),
    );
  };

  /** Memberships by id. */
  readonly memberships: BatchLoad<MembershipRecord> = async (ctx, ids) => {
    const rows = await this.#readable(ctx, await membershipsByIds(ctx, ids));
    return new Map(rows.map((membership) => [membership.id, membership]));
  };

  /** Memberships of users and identities by their ids: in the projects where the caller may read members of their kind. */
  readonly membershipsOf: BatchLoad<readonly MembershipRecord[]> = async (ctx, memberIds) =>
    Map.groupBy(await this.#readable(ctx, await membershipsOfMembers(ctx, memberIds)), ({ memberId }) => memberId);

  /** Projects of things, as the caller has them, by their ids; without those that it does not know of. */
  async accessTo(
    ctx: Context,
    things: readonly { readonly projectId: string }[],
  ): Promise<ReadonlyMap<string, ProjectAccess>> {
    const ids = [...new Set(things.map(({ projectId }) => projectId))];
    const found = await Promise.all(ids.map((id) => this.reader.find(ctx, id)));
    return new Map(found.flatMap((access) => (access === undefined ? [] : [[access.projectId, access]])));
  }

  async #readable(ctx: Context, rows: readonly MembershipRecord[]): Promise<MembershipRecord[]> {
    const access = await this.accessTo(ctx, rows);
    return rows.filter(({ projectId, memberKind }) => {
      const project = access.get(projectId);
      return project !== undefined && can(project.ability, readingOf(memberKind));
    });
  }
}

const readingOf = (kind: MemberKind): Action => `${subjectOf(kind)}:read`;
