import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import type { SecretSubject } from '../scope/visibility.rules.js';

/**
 * Maximum total size of referenced values that one response inserts, in bytes. References beyond it are not expanded.
 */
const MAX_REFERENCED_BYTES = 64 * 1024 * 1024;

/** A secret in terms of references, from anywhere in its project. */
export interface SecretName {
  readonly environment: string;
  readonly path: string;
  readonly key: string;
}

/** A referenced secret. */
export interface ReferencedRecord extends SecretSubject {
  readonly id: string;
  readonly projectId: string;
  readonly version: number;
  /** A rotation writes it: its value contains no references. */
  readonly isRotated: boolean;
  /** Null when it is too large, with those before it. */
  readonly valueSealed: Uint8Array | null;
}

const REFERENCED = `
  select id, project_id as "projectId", environment, path, key, version, tags,
    (select s.rotation_id from secret s where s.id = found.id) is not null as "isRotated",
    case when sum(octet_length(value_sealed)) over (order by id) <= ${MAX_REFERENCED_BYTES} then value_sealed end as "valueSealed"
  from referenced_secrets($1, $2, $3, $4) found`;

/** These secrets and all that they reference, directly or indirectly, in one statement at any depth. */
export const findReferenced = (
  ctx: Context,
  named: readonly (SecretName & { readonly projectId: string })[],
): Promise<ReferencedRecord[]> =>
  query<ReferencedRecord>(ctx, REFERENCED, [
    named.map(({ projectId }) => projectId),
    named.map(({ environment }) => environment),
    named.map(({ path }) => path),
    named.map(({ key }) => key),
  ]);
