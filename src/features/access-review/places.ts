const ID_BYTES = 16;
/** What stands between the parts of an id in text, by the hexadecimal digits before it. */
const PARTS = [8, 12, 16, 20, 32] as const;

/** Who belongs to a membership: ids one after the other, as the database sends them. */
interface Belonging {
  readonly users: Buffer;
  readonly identities: Buffer;
}

/** Somebody with a membership. */
export interface PlacedMember {
  readonly memberKind: 'user' | 'identity';
  readonly memberId: string;
  /** Places, from 1 on, of its memberships among all, the last first. */
  readonly places: readonly number[];
}

/** All who belong to memberships, each once. */
export function placedMembers(memberships: readonly Belonging[]): PlacedMember[] {
  const of = (memberKind: PlacedMember['memberKind'], ids: readonly Buffer[]): PlacedMember[] =>
    [...placesByMember(ids)].map(([memberId, places]) => ({ memberKind, memberId, places }));
  const users = memberships.map((membership) => membership.users);
  const identities = memberships.map((membership) => membership.identities);
  return [...of('user', users), ...of('identity', identities)];
}

function placesByMember(memberships: readonly Buffer[]): ReadonlyMap<string, readonly number[]> {
  // By bytes first: of a hundred thousand ids a tenth may be different ones.
  const places = new Map<string, number[]>();
  for (let place = memberships.length; place > 0; place -= 1) {
    const members = (memberships[place - 1] as Buffer).toString('latin1');
    for (let at = 0; at < members.length; at += ID_BYTES) {
      const key = members.slice(at, at + ID_BYTES);
      const known = places.get(key);
      if (known === undefined) places.set(key, [place]);
      else known.push(place);
    }
  }
  return new Map([...places].map(([bytes, own]) => [idOf(bytes), own]));
}

function idOf(bytes: string): string {
  const digits = Buffer.from(bytes, 'latin1').toString('hex');
  return PARTS.map((end, part) => digits.slice(PARTS[part - 1] ?? 0, end)).join('-');
}
