import type { GraphQLError, GraphQLResolveInfo } from 'graphql';
import { PermissionDenied } from '../authz/ability.js';
import { recordDenial } from '../authz/denials.js';
import type { Context } from '../context.js';

/** Fields of a request that were denied: their paths without the positions in lists. */
const DENIED = new WeakMap<Context, Set<string>>();

/**
 * What becomes of an error of a nested field. A denial is reported once for the field, whatever the number of rows: further ones
 * are null without an error.
 *
 * @throws PERMISSION_DENIED for the first row, after it was recorded in the audit trail; any other error as it is
 */
export async function nullOrDenied(ctx: Context, info: GraphQLResolveInfo, error: unknown): Promise<null> {
  if (!(error instanceof PermissionDenied)) throw error;
  const denied = DENIED.get(ctx) ?? new Set();
  DENIED.set(ctx, denied);
  const field = fieldPath(info.path);
  if (denied.has(field)) return null;
  denied.add(field);
  await recordDenial(ctx, error);
  throw error;
}

/** `projects.nodes.tags`: the path of a field in the response, without positions in lists. */
function fieldPath(path: GraphQLResolveInfo['path'] | undefined): string {
  const names: string[] = [];
  for (let at = path; at !== undefined; at = at.prev) if (typeof at.key === 'string') names.push(at.key);
  return names.reverse().join('.');
}

/** True of an error that `nullOrDenied` left in a response: the field is null, and what is around it stands. */
export const isNestedDenial = ({ originalError, path = [] }: GraphQLError): boolean =>
  originalError instanceof PermissionDenied && path.length > 1;
