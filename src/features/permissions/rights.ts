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
}

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

/**
 * The rules of a list of project roles. The built-in ones come first, since they only allow; the others follow in the order
 * in which they are named, so that each may take back what those before it gave. An unknown slug allows nothing.
 *
 * @param custom rules of each role that is not built in, in the order of the slugs
 */
export const rulesOfRoles = (slugs: readonly string[], custom: readonly (readonly Rule[])[]): Rule[] => [
  ...[...new Set(slugs)].filter(isBuiltIn).sort().flatMap(builtInRules),
  ...custom.flat(),
];

/** As `rulesOfRoles`, of an organization. */
export const rulesOfOrganizationRoles = (slugs: readonly string[], custom: readonly (readonly Rule[])[]): Rule[] => [
  ...[...new Set(slugs)].filter(isBuiltInOfOrganization).sort().flatMap(organizationRules),
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
function rightsBy(words: Vocabulary, rulesOf: typeof rulesOfRoles): (held: HeldRoles) => Rights {
  const kept = new KeptRights();
  return ({ roles, storedRules, privileges = null, attributes = null }) => {
    const key = `${[...new Set(roles)].sort().join(' ')}\n${storedRules ?? ''}\n${privileges ?? ''}\n${attributes ?? ''}`;
    const known = kept.find(key);
    if (known !== undefined) return known;
    const custom = [...listsOf(storedRules), ...listsOf(privileges)].map((rules) => readStoredRules(rules, words));
    const filled = withAttributes(rulesOf(roles, custom), (JSON.parse(attributes ?? '{}') ?? {}) as Attributes);
    // Read once more where something was filled in: with it, a pattern may have become too long.
    const ability = abilityOf(attributes === null ? filled : readStoredRules(filled, words));
    const fingerprint = createHash('sha256').update(JSON.stringify(ability.rules)).digest('base64url');
    const rights = { ability, fingerprint };
    kept.keep(key, rights);
    return rights;
  };
}

const listsOf = (stored: string | null): readonly unknown[] =>
  stored === null ? [] : (JSON.parse(stored) as readonly unknown[]);

/** What a caller may do in a project. */
export const projectRights = rightsBy(PROJECT_VOCABULARY, rulesOfRoles);

/** What a caller may do in an organization. */
export const organizationRights = rightsBy(ORGANIZATION_VOCABULARY, rulesOfOrganizationRoles);
