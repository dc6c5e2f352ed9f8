import type { Context } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import type { SecretSubject } from './visibility.rules.js';

/** Values of referenced secrets that one reply takes in together, in bytes. What is beyond stays as it stands. */
const MAX_REFERENCED_BYTES = 64 * 1024 * 1024;

/** A secret as references name it, from anywhere in its project. */
export interface SecretName {
  readonly environment: string;
  readonly path: string;
  readonly key: string;
}

/** A secret that values refer to. */
export interface ReferencedRecord extends SecretSubject {
  readonly id: string;
  readonly projectId: string;
  readonly version: number;
  /** A rotation writes it: its value contains no references. */
  readonly isRotated: boolean;
  /** Null when it is too much, with those before it. */
  readonly valueSealed: Uint8Array | null;
}

const REFERENCED = `
  select id, project_id as "projectId", environment, path, key, version, tags,
    (select s.rotation_id from secret s where s.id = found.id) is not null as "isRotated",
    case when sum(octet_length(value_sealed)) over (order by id) <= ${MAX_REFERENCED_BYTES} then value_sealed end as "valueSealed"
  from referenced_secrets($1, $2, $3, $4) found`;

/** These secrets and all that can be reached from them by references, in one statement however many links away. */
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
