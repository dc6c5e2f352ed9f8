import { type Ability, type Action, PermissionDenied, rulesOf } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { boundaryOfCaller } from '../organizations/public.js';
import { attributesWith, organizationRights, projectRights, rightsBeyond, rulesAsText } from '../permissions/public.js';
import { listHeldByAttributes } from './attribute-rights.sql.js';
import type { Attribute } from './identity.reader.js';

/** A role or, without one, a privilege. */
interface Held {
  readonly role: string | null;
  /** JSON text; null for a built-in role. */
  readonly rules: string | null;
  /** Seconds from now. */
  readonly begins: number;
  /** Null: never. */
  readonly ends: number | null;
}

/** What an identity holds in an organization, or in a project of it. */
interface Place {
  readonly organizationId: string;
  readonly projectId: string | null;
  /** In the order of their rules, whenever they hold. */
  readonly held: readonly Held[];
}

interface MetadataChange {
  readonly before: readonly Attribute[];
  readonly after: readonly Attribute[];
}

const NO_RIGHTS = projectRights({ roles: [], storedRules: null }).ability;

/**
 * Nobody gives by metadata, which rules of roles name, what he does not have himself in the same organization or project, nor
 * lifts by it what they forbid. All organizations and projects of the identity are compared, also projects that the caller is no
 * member of, and so has no right in. What holds later counts, too. A refusal names the rights that are missing, not where.
 *
 * @param identity its row is locked
 * @throws PERMISSION_BOUNDARY
 */
export async function authorizeMetadata(
  tx: Transaction,
  identity: { readonly id: string; readonly projectId: string | null },
  { before, after }: MetadataChange,
): Promise<void> {
  const [old, changed] = [before, after].map((metadata) => attributesWith(identity.id, metadata)) as [string, string];
  if (old === changed) return;
  const places = (await listHeldByAttributes(tx, { identityId: identity.id })) as readonly Place[];
  const beyondIn = await boundaryAt(tx, places);
  const points = places.flatMap((place) => timesOf(place).map((time) => ({ place, time })));
  const beyondEach = await mapYielding(points, ({ place, time }) =>
    beyondIn(place, (own) =>
      rightsBeyond(
        own,
        rulesOf(abilityAt(place, { time, attributes: changed })),
        abilityAt(place, { time, attributes: old }),
      ),
    ),
  );
  const beyond = [...new Set(beyondEach.flat())];
  if (beyond.length > 0) throw new PermissionDenied({ action: 'identity:edit', projectId: identity.projectId }, beyond);
}

/** Now, and whenever something begins or ends: in between nothing changes. */
const timesOf = ({ held }: Place): number[] => [
  ...new Set([0, ...held.flatMap(({ begins, ends }) => (ends === null ? [begins] : [begins, ends]))]),
];

function abilityAt(
  { projectId, held }: Place,
  { time, attributes }: { readonly time: number; readonly attributes: string },
): Ability {
  const holding = held.filter(({ begins, ends }) => begins <= time && (ends === null || time < ends));
  const [roles, privileges] = [
    holding.filter(({ role }) => role !== null),
    holding.filter(({ role }) => role === null),
  ];
  const rulesIn = (list: readonly Held[]) => list.flatMap(({ rules }) => (rules === null ? [] : [rulesAsText(rules)]));
  const rights = projectId === null ? organizationRights : projectRights;
  return rights({
    roles: roles.flatMap(({ role }) => role ?? []),
    storedRules: rulesIn(roles),
    privileges: rulesIn(privileges),
    attributes,
  }).ability;
}

/** What goes beyond the caller's rights in an organization or a project, in two statements. */
async function boundaryAt(
  tx: Transaction,
  places: readonly Place[],
): Promise<(place: Place, compare: (own: Ability) => readonly Action[]) => readonly Action[]> {
  const projectIds = places.flatMap(({ projectId }) => projectId ?? []);
  const projects = projectIds.length === 0 ? [] : await tx.accessesOf(tx, tx.actor.id, projectIds);
  const own = new Map(projects.map(({ projectId, ability }) => [projectId, ability]));
  const beyondIn = await boundaryOfCaller(tx);
  return ({ organizationId, projectId }, compare) =>
    projectId === null ? beyondIn(organizationId, compare) : compare(own.get(projectId) ?? NO_RIGHTS);
}
