import { createHash } from 'node:crypto';
import type { Ability, Rule } from '../../kernel/authz/ability.js';
import { abilityOf } from './ability.js';
import { ORGANIZATION_VOCABULARY, PROJECT_VOCABULARY, type Vocabulary } from './actions.js';
import { type Attributes, withAttributes } from './attributes.js';
import { builtInRules, isBuiltIn, isBuiltInOfOrganization, organizationRules } from './built-in-roles.js';
import { Kept } from './kept.js';
import { readRulesText } from './stored-rules.js';

/** What the roles of one caller allow together. */
export interface Rights {
  readonly ability: Ability;
  /** SHA-256 over the rules in their order, base64url: callers with equal ones have equal rights. */
  readonly fingerprint: string;
  /** Where each rule of the ability comes from, in their order. */
  readonly sources: readonly RuleSource[];
}

/** A built-in role; or one that is not, or a privilege, by its place among those that the caller has. */
export type RuleSource =
  | { readonly kind: 'built-in-role'; readonly slug: string }
  | { readonly kind: 'role'; readonly at: number }
  | { readonly kind: 'privilege'; readonly at: number };

/** The rules of one role or privilege. */
export interface StoredRules {
  /** Equal for equal rules alone: the digest that the database has of them, or their text. */
  readonly digest: string;
  /** JSON text. Absent or null where the database was asked for the digest alone. */
  readonly rules?: string | null;
}

/** The same, checked once. */
export interface CheckedRules {
  readonly digest: string;
  readonly checked: readonly Rule[];
  readonly namesAttributes: boolean;
  /** Characters of their text. */
  readonly size: number;
  /** False: nothing of them is kept. Whoever asks about many would push out what requests are judged by. */
  readonly isSaved: boolean;
}

/** What the database knows of the rights of one caller. */
export interface HeldRoles {
  /** Slugs of all its roles, of direct memberships first. */
  readonly roles: readonly string[];
  /** Of each role that is not built in, in the order of the slugs; null for none. */
  readonly storedRules: readonly (StoredRules | CheckedRules)[] | null;
  /** Of each of its privileges; null for none. */
  readonly privileges?: readonly StoredRules[] | null;
  /** JSON text of what its rules can name of it; null where they name nothing. */
  readonly attributes?: string | null;
}

/** SQL for `StoredRules` of a row with rules. @param withRules SQL: whether their text is wanted, too */
export const storedRulesOf = (row: string, withRules: string): string => `case when ${withRules}
  then jsonb_build_object('digest', ${row}.permissions_digest, 'rules', ${row}.permissions::text)
  else jsonb_build_object('digest', ${row}.permissions_digest) end`;

/** The same of rules that are not in the database, or not any more. @param text JSON */
export const rulesAsText = (text: string): StoredRules => ({ digest: text, rules: text });

/** What rules mean where they hold. */
interface Place {
  readonly name: string;
  readonly words: Vocabulary;
  /** The built-in roles among slugs, each once, in the order in which their rules come. */
  readonly builtIn: (slugs: readonly string[]) => { readonly slug: string; readonly rules: readonly Rule[] }[];
}

const PROJECT: Place = {
  name: 'project',
  words: PROJECT_VOCABULARY,
  builtIn: (slugs) => sortedOf(slugs, isBuiltIn).map((slug) => ({ slug, rules: builtInRules(slug) })),
};

const ORGANIZATION: Place = {
  name: 'organization',
  words: ORGANIZATION_VOCABULARY,
  builtIn: (slugs) =>
    sortedOf(slugs, isBuiltInOfOrganization).map((slug) => ({ slug, rules: organizationRules(slug) })),
};

const sortedOf = <S extends string>(slugs: readonly string[], isOne: (slug: string) => slug is S): S[] =>
  [...new Set(slugs)].filter(isOne).sort();

/**
 * The rules of a list of project roles. The built-in ones come first, since they only allow; the others follow in the order
 * in which they are named, so that each may take back what those before it gave. An unknown slug allows nothing.
 *
 * @param custom rules of each role that is not built in, in the order of the slugs
 */
export const rulesOfRoles = (slugs: readonly string[], custom: readonly (readonly Rule[])[]): Rule[] => [
  ...PROJECT.builtIn(slugs).flatMap(({ rules }) => rules),
  ...custom.flat(),
];

/** As `rulesOfRoles`, of an organization. */
export const rulesOfOrganizationRoles = (slugs: readonly string[], custom: readonly (readonly Rule[])[]): Rule[] => [
  ...ORGANIZATION.builtIn(slugs).flatMap(({ rules }) => rules),
  ...custom.flat(),
];

/** Characters of rules, all together: what is made of one takes about ten bytes. */
const MAX_RULES = 4_000_000;
/** Bytes of what is compiled of them. */
const MAX_COMPILED = 32_000_000;
const BYTES_OF_RULE = 150;
const BYTES_OF_ENTRY = 500;
const keptLists = new Kept<CheckedRules>(MAX_RULES);
const keptRights = new Kept<Rights>(MAX_COMPILED);

/** Checks each list of rules once. @returns undefined when it is told by its digest alone and not known by it */
function rulesBy(place: Place): (stored: StoredRules | CheckedRules) => CheckedRules | undefined {
  return (stored) => {
    if ('checked' in stored) return stored;
    const { digest, rules = null } = stored;
    const key = `${place.name} ${digest}`;
    const known = keptLists.find(key);
    if (known !== undefined || rules === null) return known;
    const list = {
      digest,
      checked: readRulesText(rules, place.words),
      namesAttributes: rules.includes('{{'),
      size: rules.length,
      isSaved: digest !== rules,
    };
    if (list.isSaved) keptLists.keep(key, list, list.size);
    return list;
  };
}

/**
 * Compiles each combination of lists of rules once. Lists and what is made of them are kept by digests of what is stored, which
 * come anew from the database with every request, so that nothing that is kept can be out of date.
 *
 * @returns undefined when rules are told by their digest alone and not known by it
 */
function rightsBy(place: Place): (held: HeldRoles) => Rights | undefined {
  const listOf = rulesBy(place);
  return ({ roles, storedRules, privileges, attributes = null }) => {
    const lists = { role: (storedRules ?? []).map(listOf), privilege: (privileges ?? []).map(listOf) };
    const all = [...lists.role, ...lists.privilege];
    if (!all.every((list) => list !== undefined)) return undefined;
    const named = all.some(({ namesAttributes }) => namesAttributes) ? attributes : null;
    const digests = [storedRules, privileges].map((each) => each?.map(({ digest }) => digest) ?? []);
    const key = JSON.stringify([place.name, [...new Set(roles)].sort(), ...digests, named]);
    const known = keptRights.find(key);
    if (known !== undefined) return known;
    const sourced = sourcedRules(place.builtIn(roles), lists as Lists, (JSON.parse(named ?? '{}') ?? {}) as Attributes);
    const rights = compile(sourced);
    if (all.every(({ isSaved }) => isSaved)) keptRights.keep(key, rights, weightOf(sourced.length, all));
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

/** A rule, and where it comes from. */
interface SourcedRule {
  readonly rule: Rule;
  readonly source: RuleSource;
}

/** Built-in roles, other roles, privileges: later rules win. */
function sourcedRules(builtIn: ReturnType<Place['builtIn']>, lists: Lists, attributes: Attributes): SourcedRule[] {
  // Copies: two roles may have the same list, and a rule is found among all by what it is.
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

/** Rules of a role of a project; undefined when they are told by their digest alone, and are not known by it. */
export const findProjectRules = rulesBy(PROJECT);

/** What a caller may do in a project; undefined when rules are told by their digest alone, and are not known by it. */
export const findProjectRights = rightsBy(PROJECT);

/** As `findProjectRights`, in an organization. */
export const findOrganizationRights = rightsBy(ORGANIZATION);

function known(rights: Rights | undefined): Rights {
  if (rights === undefined) throw new Error('rules are told by their digest alone');
  return rights;
}

/** What a caller may do in a project, by rules that are all there. */
export const projectRights = (held: HeldRoles): Rights => known(findProjectRights(held));

/** As `projectRights`, in an organization. */
export const organizationRights = (held: HeldRoles): Rights => known(findOrganizationRights(held));
