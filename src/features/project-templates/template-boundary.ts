import { type Action, can, PermissionDenied, type Rule } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { isBuiltIn, readStoredRules, rightsGained, rulesOfRoles } from '../permissions/public.js';
import type { TemplateContent, TemplateMember, TemplateOwnIdentity, TemplateRole } from './template.rules.js';
import { canonical } from './template.view.js';

/** What a template gives to whom. */
type Grants = Pick<TemplateContent, 'roles' | 'users' | 'groups' | 'identities' | 'projectManagedIdentities'>;

const JOINING = ['users', 'groups', 'identities'] as const;

/** Slugs of the roles of one entry; none where it is not in the template. */
interface Change {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Whether it may have rights of other entries: whoever joins may be in a group that does, an identity of the project not. */
  readonly hasMore: boolean;
}

/**
 * Whoever writes a template gives rights in projects to come, where nobody has any yet. `workspace:rescue`, by which one can become
 * an admin of any project, stands for all of them; without it nobody is given more than the template gave before. Roles that no
 * entry has give nothing.
 *
 * @param before what the template gave; of a new one `newLists`
 * @throws PERMISSION_BOUNDARY naming what is given more
 */
export function authorizeGrants(
  ctx: Context,
  action: 'project-templates:create' | 'project-templates:edit',
  before: Grants,
  after: Grants,
): void {
  if (can(ctx.ability, 'workspace:rescue')) return;
  const gained = gainedBetween(before, after);
  if (gained.length > 0) throw new PermissionDenied({ action, projectId: null }, gained);
}

function gainedBetween(before: Grants, after: Grants): Action[] {
  const isSame = sameRoles(before.roles, after.roles);
  const changed = changesOf(before, after).filter(
    ({ before: had, after: has }) => had.join() !== has.join() || !has.every(isSame),
  );
  // Many entries have the same roles.
  const distinct = new Map(changed.map((change) => [JSON.stringify(change), change]));
  const [rulesBefore, rulesAfter] = [rulesBy(before.roles), rulesBy(after.roles)];
  return rightsGained(
    [...distinct.values()].map((change) => ({
      before: rulesBefore(change.before),
      after: rulesAfter(change.after),
      hasMore: change.hasMore,
    })),
  );
}

/** Tells whether a role, which may be built in, has the rules that it had. */
function sameRoles(before: readonly TemplateRole[], after: readonly TemplateRole[]): (slug: string) => boolean {
  const [had, has] = [before, after].map(
    (roles) => new Map(roles.map(({ slug, rules }) => [slug, canonical(rules)])),
  ) as [Map<string, string>, Map<string, string>];
  return (slug) => had.get(slug) === has.get(slug);
}

/** The rules of a list of roles, as a member of a project has them. */
function rulesBy(roles: readonly TemplateRole[]): (slugs: readonly string[]) => readonly Rule[] {
  const own = new Map(roles.map(({ slug, rules }) => [slug, readStoredRules(rules)]));
  return (slugs) =>
    rulesOfRoles(
      slugs,
      slugs.filter((slug) => !isBuiltIn(slug)).map((slug) => own.get(slug) ?? []),
    );
}

const changesOf = (before: Grants, after: Grants): Change[] => [
  ...JOINING.flatMap((list) => changesOfJoining(before[list], after[list])),
  ...changesOfOwn(before.projectManagedIdentities, after.projectManagedIdentities),
];

function changesOfJoining(before: readonly TemplateMember[], after: readonly TemplateMember[]): Change[] {
  const [had = new Map(), has = new Map()] = [before, after].map(
    (list) => new Map(list.map(({ id, roles }) => [id, roles])),
  );
  const ids = [...new Set([...had.keys(), ...has.keys()])];
  return ids.map((id) => ({ before: had.get(id) ?? [], after: has.get(id) ?? [], hasMore: true }));
}

/** Each project gets new ones, so that one with another name and the same roles is the same. Who is left out has nothing. */
function changesOfOwn(before: readonly TemplateOwnIdentity[], after: readonly TemplateOwnIdentity[]): Change[] {
  const names = new Set(after.map(({ name }) => name));
  const rolesByName = new Map(before.map(({ name, roles }) => [name, roles]));
  const renamed = Map.groupBy(
    before.filter(({ name }) => !names.has(name)),
    ({ roles }) => roles.join(),
  );
  return after.map(({ name, roles }) => ({
    before: rolesByName.get(name) ?? renamed.get(roles.join())?.pop()?.roles ?? [],
    after: roles,
    hasMore: false,
  }));
}
