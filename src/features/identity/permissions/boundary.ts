import { type Ability, type Action, type Rule, rulesOf } from '../../../kernel/authz/ability.js';
import type { Conditions } from '../../../kernel/authz/conditions.js';
import { abilityOf, GRANT_ACTION, withAssignments } from './ability.js';
import { ANY_SESSION, type Attributes, withAttributes, withoutSession } from './attributes.js';
import { ComparedConditions, ComparisonSteps, keyOf } from './compared-conditions.js';

/**
 * The rights that rules would grant and an ability does not have: none, for a caller who may assign them. What the ability has by the
 * session of the caller alone does not count. Exact for rules without conditions. Conditions are compared where possible, and count as
 * exceeding where not; so do attributes, which are those of the later holder.
 *
 * @param given in order, as their holder would have them
 * @param held what their holder may do anyway, with its attributes filled in: these rights are not assigned by anybody
 * @throws VALIDATION_FAILED for more conditions than can be compared without delaying other requests
 */
export const rightsBeyond = (own: Ability, given: readonly Rule[], held?: Ability): Action[] => [
  ...new Comparison(rulesOfCaller(own)).beyond(given, held && withAttributes(rulesOf(held), IN_ANY_SESSION)),
];

/**
 * The rights that a change of a role would give away and an ability does not have: what the role allowed before and
 * allows after it, and what it no longer forbids, since its holders may have that by other roles.
 *
 * @throws VALIDATION_FAILED as `rightsBeyond`
 */
export function rightsBeyondChange(own: Ability, before: readonly Rule[], after: readonly Rule[]): Action[] {
  const comparison = new Comparison(rulesOfCaller(own));
  return [
    ...new Set([
      ...comparison.beyond(before),
      ...comparison.beyond(after),
      ...comparison.lifted(before, after).flatMap((rule) => [...comparison.beyond([rule])]),
    ]),
  ];
}

/** The rules of one holder, before and after a change. */
interface ChangedRules {
  readonly before: readonly Rule[];
  readonly after: readonly Rule[];
  /** Whether it may have other rights, which the earlier rules took away: otherwise nothing is lifted. */
  readonly hasMore: boolean;
}

/**
 * The rights that holders of rules gain by changes: what the rules newly allow, and what they no longer forbid. As
 * careful as `rightsBeyond`, except for attributes: those of one holder do not change.
 *
 * @throws VALIDATION_FAILED as `rightsBeyond`, for all changes together
 */
export function rightsGained(changes: readonly ChangedRules[]): Action[] {
  const steps = new ComparisonSteps();
  const gained = changes.flatMap(({ before, after, hasMore }) => {
    const comparison = new Comparison(ownRules(rulesOf(abilityOf(before))), steps);
    const lifted = hasMore ? comparison.lifted(before, after) : [];
    return [...comparison.beyond(after), ...lifted.map(({ subject, action }) => `${subject}:${action}` as Action)];
  });
  return [...new Set(gained)];
}

/** One action of one rule. */
interface Atom<C> {
  readonly action: Action;
  readonly inverted: boolean;
  readonly conditions: C;
}

function byAction<C>(
  rules: readonly Rule[],
  compared: (conditions: Conditions | undefined) => C,
): ReadonlyMap<Action, readonly Atom<C>[]> {
  const atoms = rules.flatMap(({ subject, action, inverted = false, conditions }) => {
    const known = compared(conditions);
    return [action]
      .flat()
      .map((verb): Atom<C> => ({ action: `${subject}:${verb}` as Action, inverted, conditions: known }));
  });
  return Map.groupBy(atoms, ({ action }) => action);
}

/** Of rules with the same effect on an action, the last one: what comes after it comes after the others too. */
function lastOfEach<C extends { readonly key: string }>(atoms: readonly Atom<C>[]): Atom<C>[] {
  const seen = new Set<string>();
  return atoms
    .toReversed()
    .filter(({ inverted, conditions: { key } }) => {
      const said = `${inverted} ${key}`;
      return !seen.has(said) && seen.add(said);
    })
    .reverse();
}

/** Conditions of the caller's own rules, with their position among all of these. */
interface OwnConditions {
  readonly key: string;
  readonly place: number;
  readonly compared: ComparedConditions;
}

/** The caller's own rules about an action, in order. */
interface OwnAtoms {
  readonly atoms: readonly Atom<OwnConditions>[];
  /** Positions of those that allow, by their conditions. */
  readonly allowing: ReadonlyMap<string, number>;
}

interface OwnRules {
  readonly actions: ReadonlyMap<Action, OwnAtoms>;
  readonly count: number;
}

/** Cached by ability: the boundary checks the same one many times. */
const known = new WeakMap<Ability, OwnRules>();

function rulesOfCaller(own: Ability): OwnRules {
  const rules = known.get(own) ?? ownRules(filledIn(own));
  known.set(own, rules);
  return rules;
}

/** What is given and what is held have the same holder: a claim of its session is the same in both. */
const IN_ANY_SESSION = JSON.parse(ANY_SESSION) as Attributes;
// Attributes are filled in; a remaining name would mean an attribute of another caller.
const filledIn = (ability: Ability): readonly Rule[] => withAttributes(withoutSession(rulesOf(ability)), {});

function ownRules(own: readonly Rule[]): OwnRules {
  const all = new Map<string, OwnConditions>();
  const compared = (conditions: Conditions | undefined): OwnConditions => {
    const key = keyOf(conditions);
    const mine = all.get(key) ?? { key, place: all.size, compared: new ComparedConditions(conditions) };
    all.set(key, mine);
    return mine;
  };
  const atoms = byAction(own.map(withAssignments), compared);
  const actions = new Map([...atoms].map(([action, each]) => [action, ownAtoms(lastOfEach(each))]));
  return { actions, count: all.size };
}

const ownAtoms = (atoms: readonly Atom<OwnConditions>[]): OwnAtoms => ({
  atoms,
  allowing: new Map(atoms.flatMap(({ inverted, conditions: { key } }, at) => (inverted ? [] : [[key, at] as const]))),
});

const NONE = ownAtoms([]);

/** Given conditions, and their comparison with the caller's own, by the positions of these. */
class GivenConditions {
  readonly compared: ComparedConditions;
  readonly #answers: Record<'implies' | 'excludes' | 'isImplied', Uint8Array>;

  constructor(
    readonly key: string,
    conditions: Conditions | undefined,
    { count }: OwnRules,
  ) {
    this.compared = new ComparedConditions(conditions);
    this.#answers = {
      implies: new Uint8Array(count),
      excludes: new Uint8Array(count),
      isImplied: new Uint8Array(count),
    };
  }

  implies(own: OwnConditions, steps: ComparisonSteps): boolean {
    const known = this.#answers.implies[own.place];
    return known ? known === YES : this.#keep('implies', own, this.compared.implies(own.compared, steps));
  }

  excludes(own: OwnConditions, steps: ComparisonSteps): boolean {
    const known = this.#answers.excludes[own.place];
    return known ? known === YES : this.#keep('excludes', own, this.compared.excludes(own.compared, steps));
  }

  isImplied(own: OwnConditions, steps: ComparisonSteps): boolean {
    const known = this.#answers.isImplied[own.place];
    return known ? known === YES : this.#keep('isImplied', own, own.compared.implies(this.compared, steps));
  }

  /** Rules about several actions are compared for each of them. */
  #keep(question: 'implies' | 'excludes' | 'isImplied', { place }: OwnConditions, answer: boolean): boolean {
    this.#answers[question][place] = answer ? YES : NO;
    return answer;
  }
}

/** 0: not compared yet. */
const [NO, YES] = [1, 2] as const;

/** Compares rules with those of one ability, within one limit of work. */
class Comparison {
  readonly #given = new Map<string, GivenConditions>();

  constructor(
    private readonly own: OwnRules,
    private readonly steps = new ComparisonSteps(),
  ) {}

  /** The rights that given rules grant beyond the caller's own and beyond those that their holder has anyway. */
  beyond(given: readonly Rule[], held: readonly Rule[] = []): ReadonlySet<Action> {
    const anyway = byAction(held.map(withAssignments), this.#conditions);
    const named = rulesOf(abilityOf(given));
    const names = new Set(byAction(named, () => null).keys());
    const beyond = [...byAction(named.map(withAssignments), this.#conditions)].flatMap(([action, all]) => {
      const atoms = lastOfEach(all);
      const check = new ActionComparison(this.own.actions.get(action) ?? NONE, atoms, this.steps);
      const had = anyway.get(action) ?? [];
      if (atoms.every(({ inverted }, at) => inverted || check.isCovered(at) || check.isHeld(at, had))) return [];
      return [names.has(action) ? action : (action.replace(/:.*$/, `:${GRANT_ACTION}`) as Action)];
    });
    return new Set(beyond);
  }

  /** What rules no longer forbid after a change, as rules that allow it. */
  lifted(before: readonly Rule[], after: readonly Rule[]): Rule[] {
    const kept = byAction(rulesOf(abilityOf(after)), this.#conditions);
    const lifted = [...byAction(rulesOf(abilityOf(before)), this.#conditions)].flatMap(([action, atoms]) => {
      const forbidding = lastOfEach(kept.get(action) ?? []).filter(({ inverted }) => inverted);
      const keys = new Set(forbidding.map(({ conditions: { key } }) => key));
      return lastOfEach(atoms).filter(
        ({ inverted, conditions: { key, compared } }) =>
          inverted &&
          !keys.has(key) &&
          !forbidding.some(({ conditions }) => compared.implies(conditions.compared, this.steps)),
      );
    });
    return lifted.map(({ action, conditions: { compared } }) => {
      const [subject = '', verb = ''] = action.split(':');
      const { conditions } = compared;
      return { subject, action: verb, ...(conditions === undefined ? {} : { conditions }) };
    });
  }

  readonly #conditions = (conditions: Conditions | undefined): GivenConditions => {
    const key = keyOf(conditions);
    const given = this.#given.get(key) ?? new GivenConditions(key, conditions, this.own);
    this.#given.set(key, given);
    return given;
  };
}

/** The key of no conditions. */
const ALWAYS = keyOf(undefined);

/** Compares given rules and the caller's own about one action. */
class ActionComparison {
  /** Positions of given rules that forbid, by their conditions. */
  readonly #forbidding: ReadonlyMap<string, number>;
  /** By the conditions of an own rule: the last given rule that forbids at least as much; -1 for none. */
  readonly #keeping = new Map<OwnConditions, number>();

  constructor(
    private readonly own: OwnAtoms,
    private readonly given: readonly Atom<GivenConditions>[],
    private readonly steps: ComparisonSteps,
  ) {
    this.#forbidding = new Map(
      given.flatMap(({ inverted, conditions: { key } }, at) => (inverted ? [[key, at] as const] : [])),
    );
  }

  /**
   * Whether everything that a rule allows, despite the rules after it, is allowed by the caller's own rules: one of
   * them allows at least as much, and what the own rules forbid after it does not overlap, or is forbidden after the
   * given rule as well.
   */
  isCovered(at: number): boolean {
    // With conditions it would not forbid what is checked without a resource.
    const isForbiddenAtAll = (this.#forbidding.get(ALWAYS) ?? -1) > at;
    return isForbiddenAtAll || this.#covers((this.given[at] as Atom<GivenConditions>).conditions, at);
  }

  /**
   * Whether the holder of given rules has all that one of them allows anyway, or that and the caller's own: of what is
   * held except for some of it, only that part is given.
   */
  isHeld(at: number, held: readonly Atom<GivenConditions>[]): boolean {
    const { compared } = (this.given[at] as Atom<GivenConditions>).conditions;
    return held.some(
      (allowing, index) =>
        !allowing.inverted &&
        compared.implies(allowing.conditions.compared, this.steps) &&
        held
          .slice(index + 1)
          .every(
            ({ inverted, conditions }) =>
              !inverted ||
              compared.excludes(conditions.compared, this.steps) ||
              this.#isForbiddenAfter(conditions, at) ||
              this.#covers(conditions, at),
          ),
    );
  }

  /** Whether the own rules allow all that conditions select, despite the given rules after a position. */
  #covers(conditions: GivenConditions, at: number): boolean {
    const same = this.own.allowing.get(conditions.key) ?? -1;
    const atoms = this.own.atoms;
    // The last rule that takes away a part of what is given: no rule before it can cover that part.
    let place = atoms.length - 1;
    for (; place > same; place -= 1) {
      const mine = atoms[place] as Atom<OwnConditions>;
      if (mine.inverted && !this.#isSpared(mine.conditions, conditions, at)) break;
    }
    if (place >= 0 && place === same) return true;
    return atoms.some(
      (mine, index) => index > place && !mine.inverted && conditions.implies(mine.conditions, this.steps),
    );
  }

  /** Whether what an own rule forbids does not overlap with a given rule, or is forbidden after it as well. */
  #isSpared(mine: OwnConditions, conditions: GivenConditions, at: number): boolean {
    if ((this.#forbidding.get(mine.key) ?? -1) > at) return true;
    return this.#keptAt(mine) > at || conditions.excludes(mine, this.steps);
  }

  /** Whether one of the given rules after a position forbids all that conditions select. */
  #isForbiddenAfter({ key, compared }: GivenConditions, at: number): boolean {
    return (
      (this.#forbidding.get(key) ?? -1) > at ||
      this.given.some(
        ({ inverted, conditions }, place) =>
          place > at && inverted && compared.implies(conditions.compared, this.steps),
      )
    );
  }

  #keptAt(mine: OwnConditions): number {
    const known = this.#keeping.get(mine);
    if (known !== undefined) return known;
    const kept = this.given.findLastIndex(
      ({ inverted, conditions }) => inverted && conditions.isImplied(mine, this.steps),
    );
    this.#keeping.set(mine, kept);
    return kept;
  }
}
