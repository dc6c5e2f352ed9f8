import type { Context } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import type { MetadataPair } from './metadata-filter.rules.js';
import type { Place } from './place.rules.js';

/** A tag as a secret carries it. */
export interface TagRecord {
  readonly id: string;
  readonly slug: string;
  readonly color: string;
}

/** An entry of metadata as it is stored in the open. The value of an encrypted one is in `metadataSealed`, in the same order. */
export type StoredEntry =
  | { readonly key: string; readonly value: string }
  | { readonly key: string; readonly isEncrypted: true };

/** A secret row with its place, its tags and who wrote it. Everything that ends in `Sealed` is ciphertext. */
export interface SecretRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environment: string;
  readonly folderId: string;
  readonly path: string;
  readonly key: string;
  readonly version: number;
  /** Undefined when values are not asked for: they are not even read. */
  readonly valueSealed?: Uint8Array;
  readonly commentSealed: Uint8Array | null;
  readonly metadata: readonly StoredEntry[];
  readonly metadataSealed: Uint8Array | null;
  readonly skipMultilineEncoding: boolean;
  readonly reminderNote: string | null;
  readonly reminderRepeatDays: number | null;
  readonly reminderRecipientIds: readonly string[];
  readonly actorKind: 'identity' | 'user' | 'system';
  readonly actorId: string;
  readonly actorName: string | null;
  readonly membershipId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly tags: readonly TagRecord[];
}

/** What narrows a list. Both must hold. */
export interface SecretFilters {
  /** Any of them. */
  readonly tagSlugs: readonly string[];
  /** All of them, among unencrypted entries. */
  readonly metadata: readonly MetadataPair[];
}

/** Where a list of secrets starts and how long it may be. Null: from the top; all. */
export interface Bounds {
  readonly after: readonly [path: string, key: string] | null;
  readonly limit: number | null;
}

const ORDER = `order by f.path collate "C", s.key collate "C"`;

/** One statement has it all: tags and the writer's name and membership come with the row, never by a query of their own. */
const select = (withValues: boolean): string => `
  select s.id, s.organization_id as "organizationId", s.project_id as "projectId", s.environment_id as "environmentId",
    e.slug as environment, s.folder_id as "folderId", f.path, s.key, s.version,
    ${withValues ? 's.value_sealed as "valueSealed",' : ''} s.comment_sealed as "commentSealed",
    s.metadata, s.metadata_sealed as "metadataSealed", s.skip_multiline_encoding as "skipMultilineEncoding",
    s.reminder_note as "reminderNote", s.reminder_repeat_days as "reminderRepeatDays", s.reminder_recipient_ids as "reminderRecipientIds",
    s.actor_kind as "actorKind", s.actor_id as "actorId", coalesce(i.name, u.username) as "actorName",
    coalesce(mi.id, mu.id) as "membershipId", s.created_at as "createdAt", s.updated_at as "updatedAt",
    coalesce(tagged.tags, '[]') as tags
  from secret s
  join folder f on f.id = s.folder_id
  join environment e on e.id = s.environment_id
  left join identity i on s.actor_kind = 'identity' and i.id = s.actor_id
  left join app_user u on s.actor_kind = 'user' and u.id = s.actor_id
  left join project_membership mi on s.actor_kind = 'identity' and mi.project_id = s.project_id and mi.identity_id = s.actor_id
  left join project_membership mu on s.actor_kind = 'user' and mu.project_id = s.project_id and mu.user_id = s.actor_id
  left join lateral (
    select json_agg(json_build_object('id', t.id, 'slug', t.slug, 'color', t.color) order by t.slug collate "C") as tags
    from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = s.id
  ) tagged on true`;

const IN_PLACE = 'e.project_id = $1 and e.slug = $2 and f.environment_id = e.id and f.path = $3';

/** Secrets of one folder, by path, then key (by code points). An unknown folder and an empty one both have none. */
export const listInPlace = (
  ctx: Context,
  { projectId, environment, secretPath }: Place,
  options: { withValues: boolean; filters: SecretFilters; bounds: Bounds },
): Promise<SecretRecord[]> => list(ctx, { where: IN_PLACE, params: [projectId, environment, secretPath], ...options });

/** Secrets at the same path of many environments, in one statement: for lists inside of lists. */
export const listInEnvironments = (
  ctx: Context,
  environmentIds: readonly string[],
  options: { secretPath: string; withValues: boolean; filters: SecretFilters },
): Promise<SecretRecord[]> =>
  list(ctx, {
    ...options,
    where: 'f.environment_id = any($1::uuid[]) and f.path = $2',
    params: [environmentIds, options.secretPath],
    bounds: { after: null, limit: null },
  });

interface ListOptions {
  readonly where: string;
  readonly params: readonly unknown[];
  readonly withValues: boolean;
  readonly filters: SecretFilters;
  readonly bounds: Bounds;
}

/** The text differs only by which filters there are, so that each shape is planned once, for what it does. */
function list(ctx: Context, { where, params, withValues, filters, bounds }: ListOptions): Promise<SecretRecord[]> {
  const given: unknown[] = [...params];
  const next = (value: unknown): string => `$${given.push(value)}`;
  const conditions = [where];
  if (filters.tagSlugs.length > 0) {
    conditions.push(`exists (select from secret_tag st join tag t on t.id = st.tag_id
      where st.secret_id = s.id and t.slug = any(${next(filters.tagSlugs)}::text[]))`);
  }
  // Containment is exact and case-sensitive, and an encrypted entry has no value to match.
  if (filters.metadata.length > 0) conditions.push(`s.metadata @> ${next(JSON.stringify(filters.metadata))}::jsonb`);
  if (bounds.after !== null) {
    const [path, key] = bounds.after;
    conditions.push(`(f.path collate "C", s.key collate "C") > (${next(path)}::text, ${next(key)}::text)`);
  }
  const limit = bounds.limit === null ? '' : `limit ${next(bounds.limit)}`;
  return query<SecretRecord>(ctx, `${select(withValues)} where ${conditions.join(' and ')} ${ORDER} ${limit}`, given);
}

/** One secret of a folder by its key. */
export async function findByKey(
  ctx: Context,
  { projectId, environment, secretPath }: Place,
  { key, withValues }: { key: string; withValues: boolean },
): Promise<SecretRecord | undefined> {
  const params = [projectId, environment, secretPath, key];
  const [found] = await query<SecretRecord>(ctx, `${select(withValues)} where ${IN_PLACE} and s.key = $4`, params);
  return found;
}

/** One secret by id. */
export async function findById(ctx: Context, id: string, withValues: boolean): Promise<SecretRecord | undefined> {
  const [found] = await query<SecretRecord>(ctx, `${select(withValues)} where s.id = $1`, [id]);
  return found;
}

/** Secrets by id, with values, by path, then key. */
export const listByIds = (ctx: Context, ids: readonly string[]): Promise<SecretRecord[]> =>
  query<SecretRecord>(ctx, `${select(true)} where s.id = any($1::uuid[]) ${ORDER}`, [ids]);

/** Environment and folder of a place; `folderId` is null when there is no such path. */
export async function findPlace(
  ctx: Context,
  { projectId, environment, secretPath }: Place,
): Promise<{ environmentId: string; folderId: string | null } | undefined> {
  const [found] = await query<{ environmentId: string; folderId: string | null }>(
    ctx,
    `select e.id as "environmentId", f.id as "folderId" from environment e
     left join folder f on f.environment_id = e.id and f.path = $3 where e.project_id = $1 and e.slug = $2`,
    [projectId, environment, secretPath],
  );
  return found;
}

/** Project of a secret, for calls that name the secret only. */
export async function findProjectOf(ctx: Context, secretId: string): Promise<string | undefined> {
  const [found] = await query<{ projectId: string }>(
    ctx,
    'select project_id as "projectId" from secret where id = $1',
    [secretId],
  );
  return found?.projectId;
}
