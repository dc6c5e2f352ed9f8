import type { Rule } from '../../../src/kernel/authz/ability.js';
import fc from '../../kit/properties.js';

/** A secret, as rules see it. */
export interface Thing {
  readonly environment: string;
  readonly secretPath: string;
  readonly secretName: string;
  readonly secretTags: readonly string[];
}

/** What is known of the caller. */
export interface Attributes {
  readonly id: string;
  readonly name: string;
  /** Undefined: it has none. */
  readonly team: string | null | undefined;
}

type Known = (name: 'id' | 'name' | 'team') => string;

/** One condition, as it is stored, and what it means. */
interface Piece {
  readonly field: keyof Thing;
  readonly stored: unknown;
  readonly needs: readonly ('id' | 'name' | 'team')[];
  readonly fits: (values: readonly string[], known: Known) => boolean;
}

export interface PolicyRule {
  readonly actions: readonly string[];
  readonly inverted: boolean;
  readonly pieces: readonly Piece[];
}

export type Term = 'none' | 'now' | 'over' | 'later';

interface Given {
  readonly slug: string;
  readonly term: Term;
}

/** Everything that decides what one caller may do in a project. */
export interface Policy {
  readonly attributes: Attributes;
  /** Rules of the roles that the project made, by slug. */
  readonly roles: Readonly<Record<string, readonly PolicyRule[]>>;
  /** Empty: no direct membership. */
  readonly direct: readonly Given[];
  /** Memberships of groups, oldest first. */
  readonly groups: readonly { readonly isIn: boolean; readonly roles: readonly Given[] }[];
  /** Of the direct membership, oldest first. */
  readonly privileges: readonly { readonly term: Term; readonly rules: readonly PolicyRule[] }[];
}

/** Which rule decides: of which role, or of which privilege. Null: none fits. */
export type By = { readonly role: string } | { readonly privilege: number } | null;

export const CALLER = '3d9d1d64-5c0a-4d8e-9c53-0f2f5f0f7a01';
const OWN_ROLES = ['r0', 'r1', 'r2'];
export const ACTIONS = ['describeSecret', 'readValue', 'edit'] as const;
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  admin: ACTIONS,
  member: ACTIONS,
  'no-access': [],
  viewer: ['describeSecret', 'readValue'],
};

const isBelow = (path: string, top: string): boolean => path === top || path.startsWith(`${top}/`);
const pieceOf =
  (field: keyof Thing, needs: Piece['needs'] = []) =>
  (stored: unknown, fits: (value: string, known: Known) => boolean): Piece => ({
    field,
    stored,
    needs,
    fits: (values, known) => values.some((value) => fits(value, known)),
  });

const PIECES: readonly Piece[] = [
  pieceOf('environment')('dev', (it) => it === 'dev'),
  pieceOf('environment')({ $eq: 'prod' }, (it) => it === 'prod'),
  pieceOf('environment')({ $ne: 'dev' }, (it) => it !== 'dev'),
  pieceOf('environment')({ $in: ['ann', 'prod'] }, (it) => ['ann', 'prod'].includes(it)),
  pieceOf('environment')({ $glob: '{d,p}*' }, (it) => /^[dp]/.test(it)),
  pieceOf('environment', ['name'])('{{identity.metadata.name}}', (it, known) => it === known('name')),
  pieceOf('environment', ['team'])({ $ne: '{{identity.metadata.team}}' }, (it, known) => it !== known('team')),
  pieceOf('environment', ['name', 'team'])(
    { $in: ['{{identity.metadata.name}}', '{{ identity.metadata.team }}'] },
    (it, known) => it === known('name') || it === known('team'),
  ),
  pieceOf('secretPath')({ $glob: '/a/**' }, (it) => isBelow(it, '/a')),
  pieceOf('secretPath')('/', (it) => it === '/'),
  pieceOf('secretPath', ['name'])({ $glob: '/{{identity.metadata.name}}/**' }, (it, known) =>
    isBelow(it, `/${known('name')}`),
  ),
  pieceOf('secretPath', ['team'])(
    { $glob: '{/x,/{{identity.metadata.team}}}' },
    (it, known) => it === '/x' || it === `/${known('team')}`,
  ),
  pieceOf('secretName')({ $glob: 'DB_*' }, (it) => it.startsWith('DB_')),
  pieceOf('secretName', ['id'])({ $ne: '{{identity.id}}' }, (it, known) => it !== known('id')),
  pieceOf('secretTags')({ $in: ['x', 'y'] }, (it) => ['x', 'y'].includes(it)),
  pieceOf('secretTags', ['team'])({ $in: ['{{identity.metadata.team}}'] }, (it, known) => it === known('team')),
];

const rule: fc.Arbitrary<PolicyRule> = fc.record({
  actions: fc.constantFrom(['edit'], ['read'], ['readValue'], ['describeSecret', 'edit'], [...ACTIONS]),
  inverted: fc.boolean(),
  pieces: fc.uniqueArray(fc.constantFrom(...PIECES), { maxLength: 2, selector: ({ field }) => field }),
});
const term = fc.constantFrom<Term>('none', 'none', 'now', 'over', 'later');
const given = fc.record({ slug: fc.constantFrom(...OWN_ROLES, 'viewer', 'member', 'no-access', 'admin'), term });
const roles = fc.uniqueArray(given, { minLength: 1, maxLength: 3, selector: ({ slug }) => slug });
const NAMES = ['ann', 'dev', '*', 'a/b', '{dev,prod}', '{{identity.id}}', '日本'];

export const policy: fc.Arbitrary<Policy> = fc.record({
  attributes: fc.record({
    id: fc.constant(CALLER),
    name: fc.constantFrom(...NAMES),
    team: fc.constantFrom('a', 'x', '*', '', null, undefined, 'prod', '[a-z]'),
  }),
  roles: fc
    .tuple(...OWN_ROLES.map(() => fc.array(rule, { maxLength: 3 })))
    .map((lists) => Object.fromEntries(OWN_ROLES.map((slug, at) => [slug, lists[at] ?? []]))),
  direct: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 4, arbitrary: roles }),
  groups: fc.array(fc.record({ isIn: fc.boolean(), roles }), { maxLength: 3 }),
  privileges: fc.array(fc.record({ term, rules: fc.array(rule, { maxLength: 2 }) }), { maxLength: 2 }),
});

export const thing: fc.Arbitrary<Thing> = fc.record({
  environment: fc.constantFrom('dev', 'prod', 'ann', '*', '{{identity.id}}'),
  secretPath: fc.constantFrom('/', '/a', '/a/b', '/ann/deep/er', '/x', '/*', '/[a-z]', '/日本'),
  secretName: fc.constantFrom('A', 'DB_A', CALLER),
  secretTags: fc.subarray(['x', 'y', 'a', '*']),
});

export const isNow = ({ term: held }: { readonly term: Term }): boolean => held === 'none' || held === 'now';

/** Slugs of the roles that somebody has right now: direct ones first, then those of groups. */
export const slugsOf = ({ direct, groups }: Policy): string[] =>
  [...direct, ...groups.flatMap(({ isIn, roles: held }) => (isIn ? held : []))].filter(isNow).map(({ slug }) => slug);

/** The rules of a policy, the first one first, each with what it comes from. */
export function orderOf(held: Policy): { readonly rule: PolicyRule; readonly by: NonNullable<By> }[] {
  const slugs = slugsOf(held).filter((slug, at, all) => all.lastIndexOf(slug) === at);
  const builtIn = slugs.filter((slug) => slug in BUILT_IN).sort();
  return [
    ...builtIn.map((slug) => ({
      rule: { actions: BUILT_IN[slug] as readonly string[], inverted: false, pieces: [] },
      by: { role: slug },
    })),
    ...slugs.flatMap((slug) => (held.roles[slug] ?? []).map((each) => ({ rule: each, by: { role: slug } }))),
    ...privilegesNow(held).flatMap(({ rules }, at) => rules.map((each) => ({ rule: each, by: { privilege: at } }))),
  ];
}

/** Privileges belong to the direct membership, and hold as long as it is there. */
export const privilegesNow = (held: Policy): Policy['privileges'] =>
  held.direct.length > 0 && slugsOf(held).length > 0 ? held.privileges.filter(isNow) : [];

/** What a policy means: the last rule that fits decides. `of` null: of some secret, whichever it is. */
export function decide(held: Policy, action: string, of: Thing | null): { isAllowed: boolean; by: By } {
  for (const { rule: each, by } of orderOf(held).reverse()) {
    if (!each.actions.some((verb) => verb === action || (verb === 'read' && action !== 'edit'))) continue;
    if (fits(each, of, held.attributes)) return { isAllowed: !each.inverted, by };
  }
  return { isAllowed: false, by: null };
}

function fits({ inverted, pieces }: PolicyRule, of: Thing | null, attributes: Attributes): boolean {
  const isUsable = (piece: Piece): boolean =>
    piece.needs.every((name) => attributes[name] != null && attributes[name] !== '' && isPlain(piece, name));
  // Only in a pattern, where it is escaped, may a value have braces as those of a name.
  const isPlain = ({ stored }: Piece, name: keyof Attributes): boolean =>
    Object.hasOwn(stored as object, '$glob') || !String(attributes[name]).includes('{{');
  if (!inverted && !pieces.every(isUsable)) return false;
  const counted = pieces.filter(isUsable);
  if (of === null) return !inverted || counted.length === 0;
  return counted.every((piece) => piece.fits([of[piece.field]].flat(), (name) => attributes[name] as string));
}

/** A rule as it is stored. */
export const storedRule = ({ actions, inverted, pieces }: PolicyRule): Rule => ({
  subject: 'secrets',
  action: actions,
  ...(inverted ? { inverted } : {}),
  ...(pieces.length === 0
    ? {}
    : { conditions: Object.fromEntries(pieces.map(({ field, stored }) => [field, stored])) as never }),
});
