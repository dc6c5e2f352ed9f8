import { createHash } from 'node:crypto';
import type { Ability, Rule } from '../../kernel/authz/ability.js';
import { abilityOf } from './ability.js';
import { ORGANIZATION_VOCABULARY, PROJECT_VOCABULARY, type Vocabulary } from './actions.js';
import { type Attributes, withAttributes } from './attributes.js';
import { builtInRules, isBuiltIn, isBuiltInOfOrganization, organizationRules } from './built-in-roles.js';
import { readStoredRules } from './stored-rules.js';

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

/** What the database knows of the rights of one caller. */
export interface HeldRoles {
  /** Slugs of all its roles, of direct memberships first. */
  readonly roles: readonly string[];
  /** JSON text of the stored rules of each role that is not built in, in the order of the slugs; null for none. */
  readonly storedRules: string | null;
  /** JSON text of the rules of each of its privileges; null for none. */
  readonly privileges?: string | null;
  /** JSON text of what its rules can name of it; null where they name nothing. */
  readonly attributes?: string | null;
}

/** What rules mean where they hold. */
interface Place {
  readonly words: Vocabulary;
  /** The built-in roles among slugs, each once, in the order in which their rules come. */
  readonly builtIn: (slugs: readonly string[]) => { readonly slug: string; readonly rules: readonly Rule[] }[];
}

const PROJECT: Place = {
  words: PROJECT_VOCABULARY,
  builtIn: (slugs) => sortedOf(slugs, isBuiltIn).map((slug) => ({ slug, rules: builtInRules(slug) })),
};

const ORGANIZATION: Place = {
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

/** Characters of stored rules that are kept compiled, all together: a few megabytes with what is made of them. */
const MAX_KEPT = 1_000_000;
/** What an entry weighs besides its rules. */
const ENTRY = 200;

/** Compiled rights by what they were compiled of. Those that were not asked for longest make room. */
class KeptRights {
  readonly #entries = new Map<string, Rights>();
  #weight = 0;

  find(key: string): Rights | undefined {
    const found = this.#entries.get(key);
    if (found !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, found);
    }
    return found;
  }

  keep(key: string, rights: Rights): void {
    this.#entries.set(key, rights);
    this.#weight += key.length + ENTRY;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= MAX_KEPT || oldest === key) return;
      this.#entries.delete(oldest);
      this.#weight -= oldest.length + ENTRY;
    }
  }
}

/**
 * Compiled once for each combination of roles and rules: what is stored is part of the key, so that nothing that is kept can
 * be out of date.
 */
function rightsBy(place: Place): (held: HeldRoles) => Rights {
  const kept = new KeptRights();
  return (held) => {
    const { roles, storedRules, privileges = null, attributes = null } = held;
    const key = `${[...new Set(roles)].sort().join(' ')}\n${storedRules ?? ''}\n${privileges ?? ''}\n${attributes ?? ''}`;
    const known = kept.find(key);
    if (known !== undefined) return known;
    const named = (JSON.parse(attributes ?? '{}') ?? {}) as Attributes;
    const rules = sourcedRules(held, place).flatMap(({ rule, source }) =>
      withAttributes([rule], named).map((filled) => ({ rule: filled, source })),
    );
    const ability = abilityOf(rules.map(({ rule }) => rule));
    const fingerprint = createHash('sha256').update(JSON.stringify(ability.rules)).digest('base64url');
    const rights = { ability, fingerprint, sources: rules.map(({ source }) => source) };
    kept.keep(key, rights);
    return rights;
  };
}

/** A rule, and where it comes from. */
interface SourcedRule {
  readonly rule: Rule;
  readonly source: RuleSource;
}

/** Built-in roles, other roles, privileges: later rules win. */
function sourcedRules({ roles, storedRules, privileges = null }: HeldRoles, { words, builtIn }: Place): SourcedRule[] {
  const stored = (kind: 'role' | 'privilege', text: string | null): SourcedRule[] =>
    listsOf(text).flatMap((rules, at) => readStoredRules(rules, words).map((rule) => ({ rule, source: { kind, at } })));
  return [
    ...builtIn(roles).flatMap(({ slug, rules }) =>
      rules.map((rule): SourcedRule => ({ rule, source: { kind: 'built-in-role', slug } })),
    ),
    ...stored('role', storedRules),
    ...stored('privilege', privileges),
  ];
}

const listsOf = (stored: string | null): readonly unknown[] =>
  stored === null ? [] : (JSON.parse(stored) as readonly unknown[]);

/** What a caller may do in a project. */
export const projectRights = rightsBy(PROJECT);

/** What a caller may do in an organization. */
export const organizationRights = rightsBy(ORGANIZATION);
