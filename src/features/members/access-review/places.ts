const ID_BYTES = 16;
const ID_WORDS = 4;
/** Positions of the hyphens in an ID, as counts of hexadecimal digits before them. */
const PARTS = [8, 12, 16, 20, 32] as const;

/** Members of a membership: concatenated IDs, as the database sends them. */
interface Belonging {
  readonly users: Buffer;
  readonly identities: Buffer;
}

/** A user or identity with a membership. */
export interface PlacedMember {
  readonly memberKind: 'user' | 'identity';
  readonly memberId: string;
  /** Positions, from 1, of its memberships among all, the last first. */
  readonly places: readonly number[];
}

/** All members of memberships, each once. */
export function placedMembers(memberships: readonly Belonging[]): PlacedMember[] {
  const of = (memberKind: PlacedMember['memberKind'], ids: readonly Buffer[]): PlacedMember[] =>
    [...placesByMember(ids)].map(([memberId, places]) => ({ memberKind, memberId, places }));
  const users = memberships.map((membership) => membership.users);
  const identities = memberships.map((membership) => membership.identities);
  return [...of('user', users), ...of('identity', identities)];
}

/**
 * The memberships of each member by their positions among all, from 1, the last first.
 *
 * A tenth of a hundred thousand IDs may be distinct: they are compared by their four words, and only the distinct ones
 * become strings.
 *
 * @returns by the IDs of members
 */
function placesByMember(memberships: readonly Buffer[]): ReadonlyMap<string, readonly number[]> {
  const bytes = Buffer.concat(memberships);
  const words = new Int32Array(Uint8Array.from(bytes).buffer);
  const members = new DistinctIds(words);
  const places: number[][] = [];
  let end = bytes.length / ID_BYTES;
  for (let place = memberships.length; place > 0; place -= 1) {
    const start = end - (memberships[place - 1] as Buffer).length / ID_BYTES;
    for (let at = start; at < end; at += 1) {
      const member = members.numberOf(at);
      const known = places[member];
      if (known === undefined) places[member] = [place];
      else known.push(place);
    }
    end = start;
  }
  return new Map(members.firsts.map((at, member) => [idAt(bytes, at), places[member] as number[]]));
}

/**
 * Numbers IDs from 0, equal ones with the same number: a hash table without a string for each. IDs are random already.
 */
class DistinctIds {
  /** Position of the first occurrence of each number. */
  readonly firsts: number[] = [];
  /** One more than the number of an ID; 0 for an empty slot. At most half of the slots are used. */
  readonly #slots: Int32Array;

  constructor(private readonly words: Int32Array) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(words.length / 2 + 1)));
  }

  numberOf(at: number): number {
    const last = this.#slots.length - 1;
    let slot = (this.words[at * ID_WORDS] as number) & last;
    for (let known = this.#slots[slot]; known !== 0; known = this.#slots[slot]) {
      const number = (known as number) - 1;
      if (this.#areEqual(this.firsts[number] as number, at)) return number;
      slot = (slot + 1) & last;
    }
    this.#slots[slot] = this.firsts.push(at);
    return this.firsts.length - 1;
  }

  #areEqual(one: number, other: number): boolean {
    for (let word = 0; word < ID_WORDS; word += 1)
      if (this.words[one * ID_WORDS + word] !== this.words[other * ID_WORDS + word]) return false;
    return true;
  }
}

function idAt(bytes: Buffer, at: number): string {
  const digits = bytes.toString('hex', at * ID_BYTES, (at + 1) * ID_BYTES);
  return PARTS.map((end, part) => digits.slice(PARTS[part - 1] ?? 0, end)).join('-');
}
