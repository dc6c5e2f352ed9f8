// Digests of equal values: aggregates of bytes, in variants by where a scan looks.
import type { Context } from '../../../kernel/context.js';
import { type RowFrom, sqlVariants, t } from '../../../kernel/database/statement.js';
import { TAG_SLUGS, tagSlugsOf } from '../core/secret.queries.js';
import {
  BOUNDS_OPTION,
  BOUNDS_PARAMS,
  boundsOf,
  isWithinBounds,
  type ScanBounds,
} from '../scope/list-conditions.sql.js';

/** Maximum number of secrets of one group that are examined. */
export const MAX_MEMBERS = 1_000;
/** Maximum number of secrets whose digests are compared in one request. */
export const MAX_DIGESTS = 250_000;

/** Which values. */
export interface DuplicateCriteria {
  readonly projectIds: readonly string[];
  /** Those of them where no row has to be examined. */
  readonly openProjectIds: readonly string[];
  readonly environments: readonly string[];
  /** Null: all folders. */
  readonly bounds: ScanBounds | null;
}

const OPTIONS = { bounds: BOUNDS_OPTION, isInEnvironments: [false, true] } as const;
const PARAMS = { environments: t.array(t.text), ...BOUNDS_PARAMS } as const;

/** True for a secret `s` that the criteria choose. */
const isChosen = ({
  bounds,
  isInEnvironments,
}: {
  bounds: (typeof BOUNDS_OPTION)[number];
  isInEnvironments: boolean;
}) => `${isWithinBounds(bounds)} and ${isInEnvironments ? IN_ENVIRONMENTS : 'true'}`;
const IN_ENVIRONMENTS =
  'exists (select from environment e where e.id = s.environment_id and e.slug = any(:environments::text[]))';

function choiceOf({ environments, bounds }: DuplicateCriteria) {
  const { choice, params } = boundsOf(bounds);
  return {
    choice: { bounds: choice, isInEnvironments: environments.length > 0 },
    params: { environments, ...params },
  };
}

/** Digests by project as they are stored, one after the other. */
export const listStoredDigests = sqlVariants({
  options: OPTIONS,
  text: (choice) => `
    select project_id as "projectId", string_agg(value_digest, '') as digests from (
      select s.project_id, s.value_digest from secret s
      where s.project_id = any(:projectIds::uuid[]) and s.value_digest is not null and ${isChosen(choice)}
      limit ${MAX_DIGESTS + 1}
    ) found group by project_id`,
  params: { projectIds: t.array(t.uuid), ...PARAMS },
  row: { projectId: t.uuid, digests: t.bytea },
});

/** Digests by project, in one statement; one more than the limit if there are more. */
export function listDigests(ctx: Context, criteria: DuplicateCriteria) {
  const { choice, params } = choiceOf(criteria);
  return listStoredDigests(choice)(ctx, { projectIds: criteria.projectIds, ...params });
}

const MEMBER_ORDER = ['key', 'project_slug', 'environment', 'path'].map((name) => `${name} collate "C"`).join(', ');

/** Secrets with these digests, of each group the first. */
export const listWithDigests = sqlVariants({
  options: OPTIONS,
  text: (choice) => `
    with ranked as (
      select s.*, row_number() over (
        partition by s.place
        -- If not all can be looked at, then those that need no look.
        order by s.project_id = any(:openProjectIds::uuid[]) desc, ${MEMBER_ORDER}
      ) as rank
      from secrets_of_digests(:groups, :projectIds, :digests) s where ${isChosen(choice)}
    )
    select place as "group", id, key, project_id as "projectId", project_slug as "projectSlug", environment_id as "environmentId",
      environment, path, case when project_id = any(:openProjectIds::uuid[]) then '[]' else ${tagSlugsOf('ranked.id')} end as tags
    from ranked where rank <= ${MAX_MEMBERS}
    order by place, ${MEMBER_ORDER}`,
  params: {
    openProjectIds: t.array(t.uuid),
    groups: t.array(t.integer),
    projectIds: t.array(t.uuid),
    digests: t.array(t.bytea),
    ...PARAMS,
  },
  row: {
    // Index of its group in the request.
    group: t.integer,
    id: t.uuid,
    key: t.text,
    projectId: t.uuid,
    projectSlug: t.text,
    environmentId: t.uuid,
    environment: t.text,
    path: t.text,
    tags: TAG_SLUGS,
  },
});

/** A secret whose value others have too. */
export type MemberRow = RowFrom<typeof listWithDigests>;

/** One digest as stored in a project, and the group that it belongs to. */
export interface GroupDigest {
  readonly group: number;
  readonly projectId: string;
  readonly digest: Buffer;
}

/**
 * Secrets of groups, group by group, in one statement that decrypts nothing; the first thousand of each group at most.
 */
export function listMembers(
  ctx: Context,
  criteria: DuplicateCriteria,
  digests: readonly GroupDigest[],
): Promise<MemberRow[]> {
  const { choice, params } = choiceOf(criteria);
  return listWithDigests(choice)(ctx, {
    openProjectIds: criteria.openProjectIds,
    groups: digests.map(({ group }) => group),
    projectIds: digests.map(({ projectId }) => projectId),
    digests: digests.map(({ digest }) => digest),
    ...params,
  });
}
