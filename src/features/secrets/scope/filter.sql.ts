// Parts of statements: filters of secrets.
import { t } from '../../../kernel/database/statement.js';
import type { MetadataPair } from './metadata-filter.rules.js';

/** Filters of a list. Both must match. */
export interface SecretFilters {
  /** Any of them. */
  readonly tagSlugs: readonly string[];
  /** All of them, among unencrypted entries. */
  readonly metadata: readonly MetadataPair[];
}

/** The conditions on a secret `s`. */
export const FILTERS = {
  tagSlugs: `exists (select from secret_tag st join tag t on t.id = st.tag_id
      where st.secret_id = s.id and t.slug = any(:tagSlugs::text[]))`,
  // Containment is exact and case-sensitive, and an encrypted entry has no value to match.
  metadata: 's.metadata @> :metadata::text::jsonb',
} as const;

export const FILTER_PARAMS = { tagSlugs: t.array(t.text), metadata: t.nullable(t.text) } as const;

/** The parameters of filters. */
export const filterParams = ({ tagSlugs, metadata }: SecretFilters) => ({
  tagSlugs,
  metadata: metadata.length === 0 ? null : JSON.stringify(metadata),
});
