import { createHash } from 'node:crypto';
import type { Ability, Rule } from '../../kernel/authz/ability.js';
import { abilityOf } from './ability.js';
import { builtInRules, isBuiltIn } from './built-in-roles.js';
import { readStoredRules } from './stored-rules.js';

/** What the roles of one caller allow together. */
export interface Rights {
  readonly ability: Ability;
  /** SHA-256 over the rules in their order, base64url: callers with equal ones have equal rights. */
  readonly fingerprint: string;
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

const kept = new KeptRights();

/**
 * What a list of project roles allows together. Compiled once for each combination of roles and rules: what is stored is part
 * of the key, so that nothing that is kept can be out of date.
 *
 * @param stored JSON text of the stored rules of each role that is not built in, in the order of the slugs; null for none
 */
export function projectRights(slugs: readonly string[], stored: string | null = null): Rights {
  const key = `${[...new Set(slugs)].filter(isBuiltIn).sort().join(' ')}\n${stored ?? ''}`;
  const known = kept.find(key);
  if (known !== undefined) return known;
  const custom = stored === null ? [] : (JSON.parse(stored) as readonly unknown[]).map(readStoredRules);
  const ability = abilityOf(rulesOfRoles(slugs, custom));
  const fingerprint = createHash('sha256').update(JSON.stringify(ability.rules)).digest('base64url');
  const rights = { ability, fingerprint };
  kept.keep(key, rights);
  return rights;
}
