import type { Ability, Action } from '../../kernel/authz/ability.js';
import { type Conditions, compileConditions } from '../../kernel/authz/conditions.js';

/** What rules look at of a folder, for all that is in it. */
export interface FolderSubject {
  readonly environment: string;
  readonly path: string;
}

const PLACE_FIELDS = ['environment', 'secretPath'];

/** Whether any rule about these actions looks at where things are. Where none does, all folders are alike. */
export const looksAtPlaces = (ability: Ability, actions: readonly Action[]): boolean =>
  actions.some((action) =>
    rulesFor(ability, action).some(({ conditions }) => PLACE_FIELDS.some((field) => field in conditions)),
  );

/**
 * Tells of folders whether they may hold a thing that the caller may do all of this to. Names and tags are not asked: a rule
 * that looks at them is taken to apply where it allows and not to where it forbids, so that what may be seen is never left out.
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
  // Rules come with the last one first, and the first that applies decides.
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
