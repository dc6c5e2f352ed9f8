import { type Action, can, canAlways, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { type Counted, counted, namePageBounds, Page, type PageRequest } from '../../../kernel/paging.js';
import { parse, parseYielding } from '../../../kernel/validation.js';
import {
  attributesWith,
  type CheckedRules,
  checkedActions,
  type EffectiveRule,
  type Explanation,
  findProjectRules,
  isAllowed,
  projectRights,
  type StoredRules,
} from '../../identity/permissions/public.js';
import {
  findAccessOf,
  findEffectiveRules,
  findExplanation,
  type ProjectAccess,
  type ProjectReader,
} from '../../projects/public.js';
import { authorizeAbout, namesOf, type ReviewedAccount, unsavedRoles } from './about-others.js';
import {
  AccessAt,
  AccessChecks,
  checkedProjectActions,
  EffectivePermissions,
  ExplainAccess,
  reviewedAccount,
  type SessionAttribute,
} from './access-review.rules.js';
import {
  listMembersNow,
  listMetadataAt,
  listPrivilegesAt,
  listPrivilegesNow,
  listRightsAt,
  listRightsNow,
  listRolesAt,
  listRolesNow,
} from './rights.sql.js';
import {
  groupsThatMay,
  membersAllowed,
  membersOf,
  namesAttributes,
  type Policies,
  type ProjectMember,
  type Reason,
  toRoleGrant,
} from './verdicts.js';

/** Explains who may do what. Nothing is decided here: it uses the abilities that authorize requests. */
export class AccessReviewService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Why somebody may or may not perform an action in a project.
   *
   * @param raw `{ projectId, subject, action, fields?, userId?, identityId?, session? }`; without user and identity: the caller
   * @returns also the attributes of the session that counted; explanation null: it is no member
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async explain(
    ctx: Context,
    raw: unknown,
  ): Promise<{ readonly explanation: Explanation | null; readonly session: readonly SessionAttribute[] }> {
    const { projectId, userId, identityId, session: given, ...what } = parse(ExplainAccess, raw);
    const asked = checkedProjectActions(what);
    const { project, memberId } = await this.#askable(ctx, projectId, reviewedAccount({ userId, identityId }));
    const own = memberId === ctx.actor.id ? (ctx.actor.sessionAttributes ?? null) : null;
    const session =
      given == null ? own : JSON.stringify(Object.fromEntries(given.map(({ name, value }) => [name, value])));
    const found = await findExplanation(ctx, {
      projectId: project.projectId,
      memberId,
      ...asked,
      ...(session !== null && { session }),
    });
    await this.#record(ctx, project, 'access:explain', memberId);
    const counted = Object.entries(JSON.parse(session ?? '{}') as Record<string, string>);
    return { explanation: found ?? null, session: counted.map(([name, value]) => ({ name, value })) };
  }

  /**
   * All rules that apply to somebody in a project, in order.
   *
   * @param raw `{ projectId, userId?, identityId? }`; without user and identity: the caller
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async effective(ctx: Context, raw: unknown): Promise<readonly EffectiveRule[] | null> {
    const { projectId, ...whom } = parse(EffectivePermissions, raw);
    const { project, memberId } = await this.#askable(ctx, projectId, reviewedAccount(whom));
    const found = await findEffectiveRules(ctx, { projectId: project.projectId, memberId });
    await this.#record(ctx, project, 'access:effective', memberId);
    return found ?? null;
  }

  /**
   * Results of many checks, in order.
   *
   * @param raw `{ checks }`, 1 to 100 of `{ projectId, subject, action, fields?, userId?, identityId?, permissions? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async can(ctx: Context, raw: unknown): Promise<boolean[]> {
    const { checks } = await parseYielding(AccessChecks, raw);
    const questions = checks.map(({ projectId, userId, identityId, permissions, ...what }, at) => ({
      projectId: projectId.toLowerCase(),
      whom: reviewedAccount({ userId, identityId }, `checks[${at}].`),
      permissions,
      ...checkedProjectActions(what, `checks[${at}].`),
    }));
    const known = await this.projects.listAccessible(
      ctx,
      questions.map(({ projectId }) => projectId),
    );
    const projects = new Map(known.map((project) => [project.projectId, project]));
    const names = await namesOf(
      ctx,
      questions.map(({ whom }) => whom),
    );
    const places = questions.map(({ projectId, whom }) => ({
      projectId,
      memberId: whom === null ? null : authorizeAbout(projects.get(projectId) as ProjectAccess, whom, names),
    }));
    const others = await othersIn(ctx, places);
    const accesses = places.map(({ projectId, memberId }) =>
      memberId === null ? projects.get(projectId) : others.get(`${projectId} ${memberId}`),
    );
    const unsaved = await unsavedRoles(
      ctx,
      places.map(({ memberId }, at) => ({
        permissions: questions[at]?.permissions,
        memberId: memberId ?? ctx.actor.id,
        isMember: accesses[at] !== undefined,
      })),
    );
    const answers = await mapYielding(questions, ({ action, fields }, at) => {
      const role = unsaved[at] ?? null;
      const ability = role === null ? accesses[at]?.ability : projectRights(role).ability;
      return ability !== undefined && isAllowed(ability, action, fields);
    });
    const asked = Map.groupBy(questions, ({ projectId }) => projectId);
    const facts = [...asked].map(([projectId, of]) => ({
      action: 'access:check',
      projectId,
      facts: { count: of.length },
    }));
    await ctx.auditTrail.recordRead(ctx, ...facts);
    return answers;
  }

  /**
   * Who may perform an action in a project, now or at a point in time in the past, by name, then ID.
   *
   * @param raw `{ projectId, subject, action, fields?, at?, first?, after? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async accessAt(ctx: Context, raw: unknown): Promise<Page<Reason> & Counted> {
    const { projectId, subject, action, fields, at, ...request } = parse(AccessAt, raw);
    const asked = checkedProjectActions({ subject, action, fields });
    const project = await this.projects.load(ctx, projectId);
    authorizeOverview(project);
    const policies = await policiesOf(ctx, [project.projectId], at ?? null);
    const reasons = await membersAllowed(
      policies.get(project.projectId) ?? NOBODY,
      checkedActions(asked.action),
      asked.fields,
    );
    const page = pageOfReasons(readable(project, reasons), request);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'access:holders',
      projectId: project.projectId,
      facts: { count: page.nodes.length },
    });
    return page;
  }

  /**
   * Who can read the value of a secret, and what grants it, inside of a response. Not shown by any path to callers who
   * may not see the secret itself.
   *
   * @throws VALIDATION_FAILED, PERMISSION_DENIED
   */
  async readersOf(
    ctx: Context,
    projectId: string,
    fields: Fields,
    request: PageRequest,
  ): Promise<Page<Reason> & Counted> {
    const project = await this.projects.load(ctx, projectId);
    authorizeOverview(project);
    const policies = (await batched(ctx, policiesNow, project.projectId)) ?? NOBODY;
    return inLine(ctx, async () => {
      const page = pageOfReasons(readable(project, await membersAllowed(policies, TO_READ, fields)), request);
      await ctx.load?.work.countMade(page.nodes.length);
      return page;
    });
  }

  /**
   * IDs of the memberships of groups that let every member of the group read the value of a secret, inside of a
   * response.
   *
   * @throws PERMISSION_DENIED
   */
  async groupsThatRead(ctx: Context, projectId: string, fields: Fields): Promise<readonly string[]> {
    const project = await this.projects.load(ctx, projectId);
    authorizeOverview(project);
    const policies = (await batched(ctx, policiesNow, project.projectId)) ?? NOBODY;
    return inLine(ctx, async () => groupsThatMay(policies, TO_READ, fields));
  }

  async #askable(
    ctx: Context,
    projectId: string,
    whom: ReviewedAccount | null,
  ): Promise<{ readonly project: ProjectAccess; readonly memberId: string }> {
    const project = await this.projects.load(ctx, projectId);
    const memberId = whom === null ? ctx.actor.id : authorizeAbout(project, whom, await namesOf(ctx, [whom]));
    return { project, memberId };
  }

  #record(ctx: Context, project: ProjectAccess, action: string, memberId: string): Promise<void> {
    return ctx.auditTrail.recordRead(ctx, { action, projectId: project.projectId, facts: { memberId } });
  }
}

/** For each of many secrets of a response. */
const inLine = <T>(ctx: Context, part: () => Promise<T>): Promise<T> => ctx.load?.work.inLine(part) ?? part();

/** The right to read the value of a secret. */
const TO_READ = checkedActions('secrets:read');

/** The rights of others in a query, by project and member. */
async function othersIn(
  ctx: Context,
  asked: readonly { readonly projectId: string; readonly memberId: string | null }[],
): Promise<ReadonlyMap<string, ProjectAccess>> {
  const places = new Map(
    asked.flatMap(({ projectId, memberId }) =>
      memberId === null ? [] : [[`${projectId} ${memberId}`, { projectId, memberId }] as const],
    ),
  );
  const found = await findAccessOf(ctx, [...places.values()]);
  return new Map(found.map((access) => [`${access.projectId} ${access.memberId}`, access]));
}

/** Who has a right, as far as the caller may read such members. */
function readable({ ability }: ProjectAccess, reasons: readonly Reason[]): readonly Reason[] {
  // Checked once, and not for each of thousands.
  if (canAlways(ability, 'member:read') && canAlways(ability, 'identity:read')) return reasons;
  return reasons.filter(({ member: { memberKind, memberId, name } }) =>
    memberKind === 'user'
      ? can(ability, 'member:read', { username: name ?? '' })
      : can(ability, 'identity:read', { identityId: memberId }),
  );
}

/** @throws PERMISSION_DENIED */
function authorizeOverview(project: ProjectAccess): void {
  for (const action of ['role:read', 'member:read', 'identity:read', 'groups:read'] as const satisfies Action[])
    if (!can(project.ability, action)) throw new PermissionDenied({ action, projectId: project.projectId });
}

interface ProjectsIn {
  readonly projectIds: readonly string[];
  readonly organizationId: string;
}

interface InProject {
  readonly projectId: string;
}

/** Rows with their rules checked; null where some are given by digest only, and the digest is unknown. */
function allChecked<Row extends StoredRules>(
  rows: readonly Row[],
): (Omit<Row, 'rules'> & { rules: CheckedRules })[] | null {
  const checked = rows.flatMap((row) => {
    const rules = findProjectRules(row);
    return rules === undefined ? [] : [{ ...row, rules }];
  });
  return checked.length === rows.length ? checked : null;
}

/** Roles and privileges of projects. The text of rules is requested only where some digest is unknown. */
async function rulesIn(ctx: Context, place: ProjectsIn, at: Date | null) {
  if (at !== null) {
    const [roles, privileges] = [
      await listRolesAt(ctx, { ...place, at }),
      await listPrivilegesAt(ctx, { ...place, at }),
    ];
    return { roles: allChecked(roles) ?? [], privileges: allChecked(privileges) ?? [] };
  }
  const rulesNow = async (withRules: boolean) => ({
    roles: allChecked(await listRolesNow(ctx, { ...place, withRules })),
    privileges: allChecked(await listPrivilegesNow(ctx, { ...place, withRules })),
  });
  const { roles, privileges } = await rulesNow(false);
  if (roles !== null && privileges !== null) return { roles, privileges };
  const whole = await rulesNow(true);
  return { roles: whole.roles ?? [], privileges: whole.privileges ?? [] };
}

/** The attributes of members that rules can name, JSON text by member. @param at null: now */
async function attributesOf(ctx: Context, memberIds: readonly string[], at: Date | null): Promise<Map<string, string>> {
  const rows =
    at === null
      ? await listMembersNow(ctx, { memberIds, withMetadata: true })
      : await listMetadataAt(ctx, { memberIds, at });
  return new Map(rows.map(({ memberId, metadata }) => [memberId, attributesWith(memberId, metadata ?? [])]));
}

/** Everything that decides about the members of projects, in at most seven statements. @param at null: now */
async function policiesOf(
  ctx: Context,
  projectIds: readonly string[],
  at: Date | null,
): Promise<Map<string, Policies>> {
  const place = { projectIds, organizationId: ctx.organizationId };
  const held = await (at === null ? listRightsNow(ctx, place) : listRightsAt(ctx, { ...place, at }));
  const { roles, privileges } = await rulesIn(ctx, place, at);
  const isNamed = [...roles, ...privileges].some(namesAttributes);
  const inProject = <Row extends InProject>(all: readonly Row[]) => Map.groupBy(all, ({ projectId }) => projectId);
  const [byProject, byRole, byPrivilege] = [inProject(held), inProject(roles), inProject(privileges)];
  const belonging = new Map([...byProject].map(([id, memberships]) => [id, membersOf(memberships)]));
  const memberIds = [...new Set([...belonging.values()].flat().map(({ memberId }) => memberId))];
  const names = new Map(
    (await listMembersNow(ctx, { memberIds, withMetadata: false })).map(({ memberId, name }) => [memberId, name]),
  );
  const attributes = isNamed ? await attributesOf(ctx, memberIds, at) : new Map<string, string>();
  return new Map(
    [...belonging].map(([id, members]) => [
      id,
      {
        members: members.map((member) => ({ ...member, name: names.get(member.memberId) ?? null })),
        given: (byProject.get(id) ?? []).map(toRoleGrant),
        roles: byRole.get(id) ?? [],
        privileges: byPrivilege.get(id) ?? [],
        attributes,
      },
    ]),
  );
}

const NOBODY: Policies = { members: [], given: [], roles: [], privileges: [], attributes: new Map() };

/** The current ones, for many projects of a response. */
const policiesNow: BatchLoad<Policies> = (ctx, projectIds) => policiesOf(ctx, projectIds, null);

const keyOf = ({ member: { name, memberId } }: Reason): [name: string, id: string] => [name ?? '', memberId];

function pageOfReasons(reasons: readonly Reason[], request: PageRequest): Page<Reason> & Counted {
  const { name, id, limit } = namePageBounds(request);
  const rest =
    name === null ? reasons : reasons.filter(({ member }) => compare(member, { name, memberId: id ?? '' }) > 0);
  const sorted = rest.toSorted((one, other) => compare(one.member, other.member)).slice(0, limit ?? undefined);
  return counted(new Page(sorted, request, keyOf), async () => reasons.length);
}

type SortKey = Pick<ProjectMember, 'name' | 'memberId'>;

function compare(one: SortKey, other: SortKey): number {
  const [name, otherName] = [one.name ?? '', other.name ?? ''];
  if (name === otherName) return one.memberId > other.memberId ? 1 : -1;
  return name > otherName ? 1 : -1;
}
