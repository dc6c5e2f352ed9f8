/** A set of characters, by code points. */
export interface Characters {
  /** First and last code point of each range. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
  /** All but these, and never a slash. */
  readonly isNegated: boolean;
  /** The one code point that it is. */
  readonly only?: number;
}

/** One step of a pattern. */
export type Step =
  /** One character. `isOptional`: the text may also end before it, whatever steps follow. */
  | { readonly kind: 'one'; readonly takes: Characters; readonly literal?: string; readonly isOptional?: true }
  /** Any number of characters, slashes among them with `rest` alone. */
  | { readonly kind: 'name' | 'rest' }
  /** Whole names, each with the slash behind it, or none: a `**` that names follow. */
  | { readonly kind: 'names' };

const BITS = 32;
const SLASH = 47;
const ASCII = 128;
const WHOLE_NAMES: Characters = { ranges: [[SLASH, SLASH]], isNegated: false, only: SLASH };

/** A bit for each state. */
type States = Int32Array<ArrayBuffer>;

/** The states of a test that runs: a test neither waits nor calls another. */
let open: States = new Int32Array(1);

/**
 * All alternatives of a pattern as one automaton. Its states are bits, each for a place between two steps: what repeats is a loop
 * at its place, and alternatives stand one behind the other. A character moves all states at once, a word of 32 at a time, so that
 * a test takes `words` operations for each character of the text, whatever the pattern is.
 */
export class GlobAutomaton {
  /** Operations for each character of a text. */
  readonly words: number;
  /** What each state takes to get to the next one. */
  readonly #takes: (Characters | undefined)[] = [];
  readonly #starts: States;
  /** A text may end here. */
  readonly #ends: States;
  /** States that stay open with a character of a name, and with a slash. */
  readonly #loops: States;
  readonly #slashLoops: States;
  /** Who gets here is at the next state, too. */
  readonly #passedOver: States;
  /** The first code point of each class. All code points of a class behave alike in every step. */
  readonly #classes: readonly number[];
  readonly #classOfAscii: readonly number[];
  /** The states that take a character of a class, made when one comes. */
  readonly #taking: (States | undefined)[] = [];

  constructor(alternatives: readonly (readonly Step[])[]) {
    this.words = wordsOf(alternatives);
    [this.#starts, this.#ends, this.#loops, this.#slashLoops, this.#passedOver] = [0, 0, 0, 0, 0].map(
      () => new Int32Array(this.words),
    ) as [States, States, States, States, States];
    for (const steps of alternatives) this.#add(steps);
    this.#classes = classesOf(this.#takes);
    this.#classOfAscii = Array.from({ length: ASCII }, (_, code) => this.#find(code));
    if (open.length < this.words) open = new Int32Array(this.words);
  }

  #add(steps: readonly Step[]): void {
    const takes = this.#takes;
    add(this.#starts, takes.length);
    for (const step of steps) {
      const at = takes.length;
      if (step.kind === 'one') {
        if (step.isOptional === true) add(this.#ends, at);
        takes.push(step.takes);
        continue;
      }
      add(this.#loops, at);
      if (step.kind !== 'name') add(this.#slashLoops, at);
      if (step.kind !== 'names') continue;
      // Not passed over from the inside: a name is taken with its slash or not at all.
      add(this.#passedOver, at);
      if (has(this.#starts, at)) add(this.#starts, at + 1);
      takes.push(WHOLE_NAMES);
    }
    add(this.#ends, takes.length);
    takes.push(undefined);
  }

  /** Whether a whole text fits. */
  test(text: string): boolean {
    open.set(this.#starts);
    for (let at = 0; at < text.length; at += 1) {
      const code = text.codePointAt(at) as number;
      if (code > 0xffff) at += 1;
      if (!this.#move(code)) return false;
    }
    for (let word = 0; word < this.words; word += 1)
      if (((open[word] as number) & (this.#ends[word] as number)) !== 0) return true;
    return false;
  }

  /** @returns false when no state is left */
  #move(code: number): boolean {
    const at = code < ASCII ? (this.#classOfAscii[code] as number) : this.#find(code);
    const taking = this.#taking[at] ?? this.#takingClass(at);
    return this.#moveAll(open, taking, code === SLASH ? this.#slashLoops : this.#loops);
  }

  #moveAll(states: States, taking: States, loops: States): boolean {
    const passedOver = this.#passedOver;
    const words = this.words;
    let carry = 0;
    let carryOver = 0;
    let left = 0;
    for (let word = 0; word < words; word += 1) {
      const now = states[word] as number;
      const taken = now & (taking[word] as number);
      const reached = (taken << 1) | carry;
      const passed = reached & (passedOver[word] as number);
      const next = reached | (passed << 1) | carryOver | (now & (loops[word] as number));
      carry = taken >>> (BITS - 1);
      carryOver = passed >>> (BITS - 1);
      states[word] = next;
      left |= next;
    }
    return left !== 0;
  }

  /** The last class that begins at or before a code point. */
  #find(code: number): number {
    let [low, high] = [0, this.#classes.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#classes[middle] as number) <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #takingClass(at: number): States {
    const code = this.#classes[at] as number;
    const taking = new Int32Array(this.words);
    for (let state = 0; state < this.#takes.length; state += 1) {
      const takes = this.#takes[state];
      if (takes !== undefined && (takes.only === undefined ? isAmong(code, takes) : takes.only === code))
        add(taking, state);
    }
    this.#taking[at] = taking;
    return taking;
  }
}

/** Words of an automaton: what repeats has no state of its own, and each alternative has one for its end. */
export function wordsOf(alternatives: readonly (readonly Step[])[]): number {
  let states = alternatives.length;
  for (const steps of alternatives) for (const { kind } of steps) if (kind === 'one' || kind === 'names') states += 1;
  return Math.ceil(states / BITS);
}

const add = (states: States, at: number): void => {
  states[at >> 5] = (states[at >> 5] as number) | (1 << (at & 31));
};
const has = (states: States, at: number): boolean => (((states[at >> 5] as number) >>> (at & 31)) & 1) === 1;

const isAmong = (code: number, { ranges, isNegated }: Characters): boolean =>
  isNegated
    ? code !== SLASH && !ranges.some(([from, to]) => from <= code && code <= to)
    : ranges.some(([from, to]) => from <= code && code <= to);

function classesOf(sets: readonly (Characters | undefined)[]): number[] {
  const edges = new Set([0, SLASH, SLASH + 1]);
  let last: Characters | undefined;
  for (const set of sets) {
    if (set === undefined || set === last) continue;
    last = set;
    for (const [from, to] of set.ranges) edges.add(from).add(to + 1);
  }
  return [...edges].sort((one, other) => one - other);
}
