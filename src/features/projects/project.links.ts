import { can } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { environmentsByIds, type ReadEnvironment } from './environment.service.js';
import { type MembershipRecord, membershipsByIds, membershipsOfMembers } from './membership.records.js';
import { subjectOf } from './membership.rules.js';
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
    const readable = await this.readable(ctx, rows, ({ ability }) => can(ability, 'environments:read'));
    return new Map(readable.map(({ row, access }) => [row.id, { environment: row, access }]));
  };

  /** Memberships by id. */
  readonly memberships: BatchLoad<MembershipRecord> = async (ctx, ids) => {
    const rows = await this.#readableMemberships(ctx, await membershipsByIds(ctx, ids));
    return new Map(rows.map((membership) => [membership.id, membership]));
  };

  /** Memberships of users and identities by their ids: in the projects where the caller may read members of their kind. */
  readonly membershipsOf: BatchLoad<readonly MembershipRecord[]> = async (ctx, memberIds) =>
    Map.groupBy(
      await this.#readableMemberships(ctx, await membershipsOfMembers(ctx, memberIds)),
      ({ memberId }) => memberId,
    );

  /**
   * Things of projects that the caller may read, each with its project as the caller has it.
   *
   * @param isReadable by what the caller may do in the project of the thing
   */
  async readable<T extends { readonly projectId: string }>(
    ctx: Context,
    rows: readonly T[],
    isReadable: (access: ProjectAccess, row: T) => boolean,
  ): Promise<{ readonly row: T; readonly access: ProjectAccess }[]> {
    const ids = [...new Set(rows.map(({ projectId }) => projectId))];
    const projects = new Map(await Promise.all(ids.map(async (id) => [id, await this.reader.find(ctx, id)] as const)));
    return rows.flatMap((row) => {
      const access = projects.get(row.projectId);
      return access !== undefined && isReadable(access, row) ? [{ row, access }] : [];
    });
  }

  async #readableMemberships(ctx: Context, rows: readonly MembershipRecord[]): Promise<MembershipRecord[]> {
    const readable = await this.readable(ctx, rows, ({ ability }, { memberKind }) =>
      can(ability, `${subjectOf(memberKind)}:read`),
    );
    return readable.map(({ row }) => row);
  }
}
