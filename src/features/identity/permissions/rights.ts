import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Ability, Rule } from '../../../kernel/authz/ability.js';
import { abilityOf } from './ability.js';
import { ORGANIZATION_VOCABULARY, PROJECT_VOCABULARY, type Vocabulary } from './actions.js';
import { type Attributes, withAttributes } from './attributes.js';
import { builtInRules, isBuiltIn, isBuiltInOfOrganization, organizationRules } from './built-in-roles.js';
import { readRulesText } from './stored-rules.js';

/** The combined rights of the roles of one caller. */
export interface Rights {
  readonly ability: Ability;
  /** SHA-256 over the rules in order, base64url: callers with equal rules have equal rights. */
  readonly fingerprint: string;
  /** Origin of each rule of the ability, in order. */
  readonly sources: readonly RuleSource[];
}

/** A built-in role; or a custom one or a privilege, by its position among those of the caller. */
export type RuleSource =
  | { readonly kind: 'built-in-role'; readonly slug: string }
  | { readonly kind: 'role'; readonly at: number }
  | { readonly kind: 'privilege'; readonly at: number };

/** The rules of one role or privilege. */
export interface StoredRules {
  /** Equal for equal rules only: the digest of the database, or their text. */
  readonly digest: string;
  /** JSON text. Absent or null where only the digest was requested. */
  readonly rules?: string | null;
}

/** The same, checked once. */
export interface CheckedRules {
  readonly digest: string;
  readonly checked: readonly Rule[];
  readonly namesAttributes: boolean;
  /** Number of characters of their text. */
  readonly size: number;
  /** False: not cached. Queries about many members would evict what authorizes requests. */
  readonly isSaved: boolean;
}

/** The stored rights of one caller. */
export interface StoredRights {
  /** Slugs of all its roles: of memberships of all projects, of direct ones, then of those of groups. */
  readonly roles: readonly string[];
  /** Of each custom role, in the order of the slugs; null for none. */
  readonly storedRules: readonly (StoredRules | CheckedRules)[] | null;
  /** Of each of its privileges; null for none. */
  readonly privileges?: readonly StoredRules[] | null;
  /** JSON text of its attributes that rules can name; null where they name none. */
  readonly attributes?: string | null;
}

/** For so long a node goes by what it has read of rights, as long as it notices no change. */
export const RIGHTS_CACHE_SECONDS = 30;

/**
 * SQL of whether what a member has in projects begins or ends by itself at a later time.
 *
 * @param member SQL of its ID @param which condition of the memberships `d` that count
 */
export const hasTimedRoles = (member: string, which = 'true'): string => `(
    exists (select from project_membership d where ${which} and d.role_terms is not null and (d.user_id = ${member} or d.identity_id = ${member}))
    or exists (select from group_member g join project_membership d on d.group_id = g.group_id
      where ${which} and d.role_terms is not null and (g.user_id = ${member} or g.identity_id = ${member}))
    or exists (select from project_membership d
      cross join lateral (select from additional_privilege v where v.membership_id = d.id and v.ends_at > now() offset 0) v
      where ${which} and (d.user_id = ${member} or d.identity_id = ${member}))
    or exists (select from all_projects_membership w where coalesce(w.user_id, w.identity_id) = ${member} and w.ends_at > now())
    or exists (select from group_member g join all_projects_membership w on w.group_id = g.group_id
      where coalesce(g.user_id, g.identity_id) = ${member} and w.ends_at > now()))`;

/** SQL of `StoredRules` of a row with rules. @param withRules SQL: whether to return their text too */
export const storedRulesOf = (row: string, withRules: string): string => `case when ${withRules}
  then jsonb_build_object('digest', ${row}.permissions_digest, 'rules', ${row}.permissions::text)
  else jsonb_build_object('digest', ${row}.permissions_digest) end`;

/** The same for rules that are not in the database (any more). @param text JSON */
export const rulesAsText = (text: string): StoredRules => ({ digest: text, rules: text });

/** How rules are read in a scope. */
interface RuleScope {
  readonly name: string;
  readonly words: Vocabulary;
  /** The built-in roles among slugs, each once, in order of evaluation. */
  readonly builtIn: (slugs: readonly string[]) => { readonly slug: string; readonly rules: readonly Rule[] }[];
}

const PROJECT: RuleScope = {
  name: 'project',
  words: PROJECT_VOCABULARY,
  builtIn: (slugs) => sortedOf(slugs, isBuiltIn).map((slug) => ({ slug, rules: builtInRules(slug) })),
};

const ORGANIZATION: RuleScope = {
  name: 'organization',
  words: ORGANIZATION_VOCABULARY,
  builtIn: (slugs) =>
    sortedOf(slugs, isBuiltInOfOrganization).map((slug) => ({ slug, rules: organizationRules(slug) })),
};

const sortedOf = <S extends string>(slugs: readonly string[], isOne: (slug: string) => slug is S): S[] =>
  [...new Set(slugs)].filter(isOne).sort();

/**
 * The rules of a list of project roles. Built-in ones come first, since they only allow; the others follow in their
 * order, so that each may take away what earlier ones granted. An unknown slug grants nothing.
 *
 * @param custom rules of each custom role, in the order of the slugs
 */
export const rulesOfRoles = (slugs: readonly string[], custom: readonly (readonly Rule[])[]): Rule[] => [
  ...PROJECT.builtIn(slugs).flatMap(({ rules }) => rules),
  ...custom.flat(),
];

/** As `rulesOfRoles`, for an organization. */
export const rulesOfOrganizationRoles = (slugs: readonly string[], custom: readonly (readonly Rule[])[]): Rule[] => [
  ...ORGANIZATION.builtIn(slugs).flatMap(({ rules }) => rules),
  ...custom.flat(),
];

/** Maximum total number of cached characters of rules: their compiled form takes about ten bytes each. */
const MAX_RULES = 4_000_000;
/** Maximum size in bytes of the compiled forms. */
const MAX_COMPILED = 32_000_000;
const BYTES_OF_RULE = 150;
const BYTES_OF_ENTRY = 500;
const ruleLists = new LRUCache<string, CheckedRules>({ maxSize: MAX_RULES });
const combinedRights = new LRUCache<string, Rights>({ maxSize: MAX_COMPILED });

/** Checks each list of rules once. @returns undefined when only its digest is given and the digest is unknown */
function rulesBy(place: RuleScope): (stored: StoredRules | CheckedRules) => CheckedRules | undefined {
  return (stored) => {
    if ('checked' in stored) return stored;
    const { digest, rules = null } = stored;
    const key = `${place.name} ${digest}`;
    const known = ruleLists.get(key);
    if (known !== undefined || rules === null) return known;
    const list = {
      digest,
      checked: readRulesText(rules, place.words),
      namesAttributes: rules.includes('{{'),
      size: rules.length,
      isSaved: digest !== rules,
    };
    if (list.isSaved) ruleLists.set(key, list, { size: list.size + key.length });
    return list;
  };
}

/**
 * Compiles each combination of lists of rules once. The caches use digests of the stored rules, which the database
 * returns with every request, so that no cached entry can be stale.
 *
 * @returns undefined when only digests of rules are given and one is unknown
 */
function rightsBy(place: RuleScope): (held: StoredRights) => Rights | undefined {
  const listOf = rulesBy(place);
  return ({ roles, storedRules, privileges, attributes = null }) => {
    const lists = { role: (storedRules ?? []).map(listOf), privilege: (privileges ?? []).map(listOf) };
    const all = [...lists.role, ...lists.privilege];
    if (!all.every((list) => list !== undefined)) return undefined;
    const named = all.some(({ namesAttributes }) => namesAttributes) ? attributes : null;
    const digests = [storedRules, privileges].map((each) => each?.map(({ digest }) => digest) ?? []);
    const key = JSON.stringify([place.name, [...new Set(roles)].sort(), ...digests, named]);
    const known = combinedRights.get(key);
    if (known !== undefined) return known;
    const sourced = sourcedRules(place.builtIn(roles), lists as Lists, (JSON.parse(named ?? '{}') ?? {}) as Attributes);
    const rights = compile(sourced);
    if (all.every(({ isSaved }) => isSaved))
      combinedRights.set(key, rights, { size: weightOf(sourced.length, all) + key.length });
    return rights;
  };
}

/** It may outlive the lists, and holds their texts. */
const weightOf = (rules: number, lists: readonly CheckedRules[]): number =>
  BYTES_OF_ENTRY +
  Math.max(
    rules * BYTES_OF_RULE,
    lists.reduce((sum, { size }) => sum + size, 0),
  );

type Lists = Readonly<Record<'role' | 'privilege', readonly CheckedRules[]>>;

/** A rule, and its origin. */
interface SourcedRule {
  readonly rule: Rule;
  readonly source: RuleSource;
}

/** Built-in roles, other roles, privileges: later rules win. */
function sourcedRules(builtIn: ReturnType<RuleScope['builtIn']>, lists: Lists, attributes: Attributes): SourcedRule[] {
  // Copies: two roles may have the same list, and a rule is found by identity.
  const from = (source: RuleSource, rules: readonly Rule[]): SourcedRule[] =>
    rules.map((rule) => ({ rule: { ...rule }, source }));
  const stored = (kind: 'role' | 'privilege'): SourcedRule[] =>
    lists[kind].flatMap(({ checked, namesAttributes }, at) =>
      from({ kind, at }, namesAttributes ? withAttributes(checked, attributes) : checked),
    );
  return [
    ...builtIn.flatMap(({ slug, rules }) => from({ kind: 'built-in-role', slug }, rules)),
    ...stored('role'),
    ...stored('privilege'),
  ];
}

function compile(sourced: readonly SourcedRule[]): Rights {
  const ability = abilityOf(sourced.map(({ rule }) => rule));
  const fingerprint = createHash('sha256').update(JSON.stringify(ability.rules)).digest('base64url');
  return { ability, fingerprint, sources: sourced.map(({ source }) => source) };
}

/** Rules of a role of a project; undefined when only their digest is given and the digest is unknown. */
export const findProjectRules = rulesBy(PROJECT);

/** The rights of a caller in a project; undefined when only digests of rules are given and one is unknown. */
export const findProjectRights = rightsBy(PROJECT);

/** As `findProjectRights`, in an organization. */
export const findOrganizationRights = rightsBy(ORGANIZATION);

function known(rights: Rights | undefined): Rights {
  if (rights === undefined) throw new Error('only the digest of the rules is given');
  return rights;
}

/** The rights of a caller in a project, from complete rules. */
export const projectRights = (held: StoredRights): Rights => known(findProjectRights(held));

/** As `projectRights`, in an organization. */
export const organizationRights = (held: StoredRights): Rights => known(findOrganizationRights(held));

/** The ability of whoever has no role in a project. */
export const NO_RIGHTS = projectRights({ roles: [], storedRules: null }).ability;
