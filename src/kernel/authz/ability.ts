import { createMongoAbility, type MongoAbility, type RawRuleOf } from '@casl/ability';
import type { Context } from '../context.js';
import { AppError, type ErrorDetail } from '../errors.js';
import { type EnumName, enumName } from '../names.js';
import { type Conditions, compileConditions, type Fields } from './conditions.js';

declare module '../detail-codes.js' {
  interface DetailCodes {
    /** As REST names them, and as GraphQL does. */
    readonly verbs: Verb | EnumName<Verb>;
  }
}

export type AccessTo = (ctx: Context, projectId: string) => Promise<Access | undefined>;

/** What may be done, by where: declared by who knows the subjects, by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: the kernel knows no subject
export interface Actions {}

/** What a caller may want to do: `subject:verb`, as in `secrets:edit`. */
export type Action = Actions[keyof Actions];

/** What an action does to its subject: `edit`. */
type Verb<A extends Action = Action> = A extends `${string}:${infer V}` ? V : never;

/** One permission rule, as the API shows it. A later rule overrides an earlier one; `inverted` denies. */
export interface Rule {
  readonly subject: string;
  readonly action: string | readonly string[];
  readonly inverted?: boolean;
  readonly conditions?: Conditions;
}

/** The rules of one caller in one organization or project, ready to ask. */
export type Ability = MongoAbility;

/** By the very object: abilities share the rules of the roles that they have in common. */
const compiled = new WeakMap<Conditions, ReturnType<typeof compileConditions>>();

function compiledOnce(conditions: Conditions): ReturnType<typeof compileConditions> {
  const known = compiled.get(conditions) ?? compileConditions(conditions);
  compiled.set(conditions, known);
  return known;
}

/** Compiles rules. A later rule overrides an earlier one. */
export function buildAbility(rules: readonly Rule[]): Ability {
  return createMongoAbility(rules as unknown as RawRuleOf<MongoAbility>[], {
    conditionsMatcher: compiledOnce as never,
    // Things are plain bags of fields here, so their kind travels beside them.
    detectSubjectType: (thing) => (thing as unknown as { subjectType: string }).subjectType,
  });
}

/** The rules that an ability decides by, in their order. */
export const rulesOf = ({ rules }: Ability): readonly Rule[] => rules as unknown as readonly Rule[];

/**
 * True when the caller may do this to a thing with these fields. Without fields: to at least some thing of the kind.
 * Pure, and cheap enough for every row of a list.
 */
export function can(ability: Ability, action: Action, fields?: Fields): boolean {
  return ability.can(...askedFor(action, fields));
}

/**
 * As `can`, for something with fields that are not known any more: a rule that denies by one of them is taken to apply.
 *
 * @param unknown names of these fields
 */
export function canWithout(ability: Ability, action: Action, fields: Fields, unknown: readonly string[]): boolean {
  const [subject, verb] = splitAction(action);
  const mayBeDenied = ability
    .rulesFor(verb, subject)
    .some(
      ({ inverted, conditions }) =>
        inverted && unknown.some((field) => JSON.stringify(conditions)?.includes(`"${field}"`)),
    );
  return !mayBeDenied && can(ability, action, fields);
}

/** True when the caller may do this to every thing of the kind, whatever there is: nobody has to look at single ones. */
export function canAlways(ability: Ability, action: Action): boolean {
  const [subject, verb] = splitAction(action);
  return can(ability, action) && ability.rulesFor(verb, subject).every(({ conditions }) => conditions === undefined);
}

/** Place in `ability.rules` of the rule by which `can` decides, the last one that fits; null when none does. */
export function decidingRule(ability: Ability, action: Action, fields?: Fields): number | null {
  const rule = ability.relevantRuleFor(...askedFor(action, fields));
  return rule === null ? null : ability.rules.indexOf(rule.origin);
}

function askedFor(action: Action, fields: Fields | undefined): [verb: string, thing: never] {
  const [subject, verb] = splitAction(action);
  return [verb, (fields === undefined ? subject : { ...fields, subjectType: subject }) as never];
}

/** Where a denied action was tried, for the audit trail. */
interface DeniedAttempt {
  readonly action: Action;
  readonly projectId: string | null;
}

/** What is in the way at one place: anything, or an action that is missing. */
export type Reason = ErrorDetail | { readonly path: string; readonly needs: Action; readonly about: string };

/** How an interface names subjects and verbs. */
type Naming = <Word extends string>(word: Word) => Word | EnumName<Word>;

/** PERMISSION_DENIED or PERMISSION_BOUNDARY that knows what was tried. It names actions as roles do in REST: `describeSecret` on `secrets`. */
export class PermissionDenied extends AppError {
  /**
   * @param beyond what the attempt would have given away without being the caller's to give
   * @param reasons what is in the way, in place of the missing action
   */
  constructor(
    readonly attempt: DeniedAttempt,
    private readonly beyond: readonly Action[] = [],
    private readonly reasons?: readonly Reason[],
  ) {
    const reported = { attempt, beyond, reasons, named: <Word extends string>(word: Word) => word };
    super(codeOf(beyond), messageOf(reported), { details: detailsOf(reported) });
  }

  /** The same for GraphQL, which names actions by enums: `DESCRIBE_SECRET` on `SECRETS`. */
  inEnumNames(): AppError {
    const reported = { attempt: this.attempt, beyond: this.beyond, reasons: this.reasons, named: enumName };
    return new AppError(this.code, messageOf(reported), { details: detailsOf(reported), cause: this });
  }
}

const codeOf = (beyond: readonly Action[]): 'PERMISSION_DENIED' | 'PERMISSION_BOUNDARY' =>
  beyond.length === 0 ? 'PERMISSION_DENIED' : 'PERMISSION_BOUNDARY';

interface Reported {
  readonly attempt: DeniedAttempt;
  readonly beyond: readonly Action[];
  readonly reasons: readonly Reason[] | undefined;
  readonly named: Naming;
}

/** Undefined: the message of the code. */
function messageOf({ attempt, beyond, named }: Reported): string | undefined {
  if (beyond.length > 0) return undefined;
  const [subject, verb] = splitAction(attempt.action);
  // Both have roles, members, groups and identities.
  const where = attempt.projectId === null ? 'organization' : 'project';
  return `You do not have the permission ${named(verb)} on ${named(subject)} in the ${where}.`;
}

function detailsOf({ attempt, beyond, reasons, named }: Reported): ErrorDetail[] {
  const missing = (action: Action, path?: string, about = ''): ErrorDetail => {
    const [subject, verb] = splitAction(action);
    const message = `${about}requires the action ${named(verb)} on ${named(subject)}`;
    return { path: path ?? named(subject), code: named(verb), message };
  };
  if (reasons === undefined) return (beyond.length > 0 ? beyond : [attempt.action]).map((action) => missing(action));
  return reasons.map((reason) => ('needs' in reason ? missing(reason.needs, reason.path, `${reason.about} `) : reason));
}

/** An organization (the Context) or a project: what a caller's ability is about. */
export interface Access {
  readonly ability: Ability;
  readonly projectId?: string;
}

/** @throws PERMISSION_DENIED, naming action and subject, never other people's rules. */
export function authorize(access: Access, action: Action, fields?: Fields): void {
  if (!can(access.ability, action, fields)) throw new PermissionDenied({ action, projectId: access.projectId ?? null });
}

function splitAction(action: Action): [subject: string, verb: Verb] {
  const at = action.indexOf(':');
  return [action.slice(0, at), action.slice(at + 1) as Verb];
}
