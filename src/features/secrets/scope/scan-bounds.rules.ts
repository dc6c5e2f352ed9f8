import type { Ability, Action } from '../../../kernel/authz/ability.js';
import { type Conditions, compileConditions } from '../../../kernel/authz/conditions.js';

/** The attributes of a folder that rules use, common to everything in it. */
export interface FolderSubject {
  readonly environment: string;
  readonly path: string;
}

/** What depends on the rules of a project alone, found once for all projects with the same: those of a caller mostly have. */
export function byRules<T extends {}>(find: (ability: Ability) => T): (project: { readonly ability: Ability }) => T {
  const known = new Map<Ability, T>();
  return ({ ability }) => {
    const found = known.get(ability) ?? find(ability);
    known.set(ability, found);
    return found;
  };
}

const PLACE_FIELDS = ['environment', 'secretPath'];

/** Whether any rule about these actions depends on the location. If none does, all folders are alike. */
export const looksAtPlaces = (ability: Ability, actions: readonly Action[]): boolean =>
  actions.some((action) =>
    rulesFor(ability, action).some(({ conditions }) => PLACE_FIELDS.some((field) => field in conditions)),
  );

/**
 * Decides for folders whether they may hold an item on which the caller may perform all these actions. Names and tags
 * are not considered: a rule that depends on them is taken to apply where it allows and not to apply where it forbids,
 * so that nothing visible is left out.
 */
export function folderTest(ability: Ability, actions: readonly Action[]): (folder: FolderSubject) => boolean {
  const tests = actions.map((action) => testOf(ability, action));
  return (folder) => tests.every((test) => test(folder));
}

function testOf(ability: Ability, action: Action): (folder: FolderSubject) => boolean {
  const rules = rulesFor(ability, action).flatMap(({ inverted, conditions }) => {
    const all = Object.entries(conditions);
    const ofPlaces = all.filter(([field]) => PLACE_FIELDS.includes(field));
    const isCertain = ofPlaces.length === all.length;
    return inverted && !isCertain ? [] : [{ inverted, holds: compileConditions(Object.fromEntries(ofPlaces)) }];
  });
  // Rules are ordered last first, and the first that applies decides.
  return ({ environment, path }) =>
    rules.find(({ holds }) => holds({ environment, secretPath: path }))?.inverted === false;
}

function rulesFor(ability: Ability, action: Action): { inverted: boolean; conditions: Conditions }[] {
  const [subject, verb] = action.split(':') as [string, string];
  return ability.rulesFor(verb, subject).map(({ inverted, conditions }) => ({
    inverted,
    conditions: (conditions ?? {}) as Conditions,
  }));
}
