import {
  type Ability,
  type Access,
  type Action,
  authorize,
  can,
  canAlways,
  PermissionDenied,
} from '../../../kernel/authz/ability.js';
import { type Conditions, compileConditions, type Fields } from '../../../kernel/authz/conditions.js';
import { filterYielding, yieldToEventLoop } from '../../../kernel/event-loop.js';

/** The attributes that conditions of rules about secrets can use. */
export interface SecretSubject {
  readonly environment: string;
  readonly path: string;
  readonly key: string;
  readonly tags: readonly { readonly slug: string }[];
}

/** A secret as rules see it. */
export const fieldsOf = ({ environment, path, key, tags }: SecretSubject): Fields => ({
  environment,
  secretPath: path,
  secretName: key,
  secretTags: tags.map(({ slug }) => slug),
});

/** A change of the attributes that rules use. */
interface SubjectChange {
  readonly before: SecretSubject;
  readonly after: SecretSubject;
}

/** To see a secret, and to read its value. */
type ReadAction = 'secrets:describeSecret' | 'secrets:readValue';

/**
 * A change of attributes that rules use requires the right to edit the secret before and after. And nobody gains sight
 * of a secret, or of its value, by their own change: otherwise a condition on visible secrets would be no more than a
 * condition on names.
 *
 * @throws PERMISSION_DENIED
 */
export function authorizeSubjectChanges(project: Access, changes: readonly SubjectChange[]): void {
  const visibility = new Visibility(project.ability);
  for (const change of changes) {
    authorize(project, 'secrets:edit', fieldsOf(change.before));
    authorize(project, 'secrets:edit', fieldsOf(change.after));
    const action = visibility.gainedBy(change);
    if (action !== undefined) throw new PermissionDenied({ action, projectId: project.projectId ?? null });
  }
}

/**
 * The rights that renaming a location or a tag requires, on each secret that has it: all that rules could grant or deny
 * by the new name.
 */
const CARRYING = ['secrets:edit', 'secrets:describeSecret', 'secrets:readValue'] as const;

/** Whether the caller may do all of this to every possible secret: then the existing ones need no check. */
export const mayAlways = (ability: Ability, actions: readonly Action[]): boolean =>
  actions.every((action) => canAlways(ability, action));

/** Whether the caller may rename any location that contains secrets. */
export const mayRenameAll = (ability: Ability): boolean => mayAlways(ability, CARRYING);

/**
 * Renaming something that contains secrets, or that secrets have, changes the attributes that rules use for everybody.
 * It requires the right to edit and read each of them, under the old name and under the new one.
 *
 * @throws PERMISSION_DENIED
 */
export async function authorizeRename(project: Access, changes: readonly SubjectChange[]): Promise<void> {
  const subjects = changes.flatMap(({ before, after }) => [before, after]);
  for (const action of CARRYING) await authorizeAll(project, action, subjects);
}

/** @throws PERMISSION_DENIED unless the caller may do this to each of many secrets */
export async function authorizeAll(project: Access, action: Action, subjects: readonly SecretSubject[]): Promise<void> {
  for (const subject of subjects) {
    authorize(project, action, fieldsOf(subject));
    await yieldToEventLoop();
  }
}

/** @throws PERMISSION_DENIED unless the caller may describe at least some secret of the project */
export const authorizeListing = (access: Access): void => authorize(access, 'secrets:describeSecret');

/** Which secrets a caller may see and which values it may read, row by row. */
export class Visibility {
  readonly #describes: (subject: SecretSubject) => boolean;
  readonly #readsValue: (subject: SecretSubject) => boolean;
  /** The rules depend on single secrets: which rows are visible is known only after reading them. */
  readonly isPerSecret: boolean;
  /** The caller may see every secret, whatever exists. */
  readonly describesAll: boolean;

  constructor(ability: Ability) {
    const isConditional = (verb: string): boolean =>
      ability.rulesFor(verb, 'secrets').some(({ conditions }) => conditions !== undefined);
    this.isPerSecret = isConditional('describeSecret') || isConditional('readValue');
    this.describesAll = canAlways(ability, 'secrets:describeSecret');
    this.#describes = this.#test(ability, 'secrets:describeSecret');
    this.#readsValue = this.#test(ability, 'secrets:readValue');
  }

  /** The caller may know that the secret exists. */
  describes(subject: SecretSubject): boolean {
    return this.#describes(subject);
  }

  /** Those of many secrets that the caller may know of. Where rules do not depend on single ones, that is all or none. */
  async described<S extends SecretSubject>(subjects: readonly S[]): Promise<readonly S[]> {
    if (this.isPerSecret) return filterYielding(subjects, this.#describes);
    const [first] = subjects;
    return first === undefined || this.#describes(first) ? subjects : [];
  }

  /** The caller may read its value. */
  readsValue(subject: SecretSubject): boolean {
    return this.#readsValue(subject);
  }

  /** What the caller would see of the changed secret and does not see of the current one; undefined: nothing. */
  gainedBy({ before, after }: SubjectChange): ReadAction | undefined {
    if (this.describes(after) && !this.describes(before)) return 'secrets:describeSecret';
    return this.readsValue(after) && !this.readsValue(before) ? 'secrets:readValue' : undefined;
  }

  #test(ability: Ability, action: ReadAction): (subject: SecretSubject) => boolean {
    if (!this.isPerSecret) {
      const always = can(ability, action);
      return () => always;
    }
    return (subject) => can(ability, action, fieldsOf(subject));
  }
}

/** The attributes of a folder that rules use, common to everything in it. */
export interface FolderSubject {
  readonly environment: string;
  readonly path: string;
}

/** What depends on the rules of a project alone, found once for all projects with the same: those of a caller mostly have. */
export function oncePerRules<T extends {}>(
  find: (ability: Ability) => T,
): (project: { readonly ability: Ability }) => T {
  const known = new Map<Ability, T>();
  return ({ ability }) => {
    const found = known.get(ability) ?? find(ability);
    known.set(ability, found);
    return found;
  };
}

const PLACE_FIELDS = ['environment', 'secretPath'];

/** Whether any rule about these actions depends on the location. If none does, all folders are alike. */
export const dependsOnLocation = (ability: Ability, actions: readonly Action[]): boolean =>
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
