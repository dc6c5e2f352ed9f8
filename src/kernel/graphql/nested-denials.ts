import type { GraphQLResolveInfo } from 'graphql';
import { PermissionDenied } from '../authz/ability.js';
import { denialOf } from '../authz/denials.js';
import type { Context } from '../context.js';
import { runTogether, type SharedRun } from '../database/batched.js';

/** What of a request was denied. */
interface Denied {
  /** Fields: the type, and the path in the response without the positions in lists. */
  readonly fields: Set<string>;
  /** Rights in projects, as text. */
  readonly attempts: Set<string>;
}

const DENIED = new WeakMap<Context, Denied>();
/** Requests whose caller did not choose the fields of the document. */
const FIXED = new WeakSet<object>();

/** For a request whose document is not the caller's own: what it is denied of that is null, with neither error nor record. */
export const allowNestedDenials = (ctx: object): void => void FIXED.add(ctx);

/** Whether the document of a request is of its route, and not the caller's own. */
export const hasFixedDocument = (ctx: object): boolean => FIXED.has(ctx);

/**
 * What becomes of an error of a nested field. A denial is reported once for the field, whatever the number of rows: further ones
 * are null without an error. The audit trail gets one record for each right that was lacking in each project.
 *
 * @throws PERMISSION_DENIED for the first row, after it was recorded in the audit trail; any other error as it is
 */
export async function nullOrDenied(ctx: Context, info: GraphQLResolveInfo, error: unknown): Promise<null> {
  if (!(error instanceof PermissionDenied)) throw error;
  if (FIXED.has(ctx)) return null;
  const { fields, attempts } = deniedIn(ctx);
  const field = `${info.parentType.name} ${fieldPath(info.path)}`;
  const attempt = JSON.stringify(error.attempt);
  const [isReported, isRecorded] = [fields.has(field), attempts.has(attempt)];
  fields.add(field);
  attempts.add(attempt);
  if (!isRecorded) await runTogether(ctx, recordDenials, error);
  if (isReported) return null;
  throw error;
}

/** All denials of the same turn of the event loop, in one statement. */
const recordDenials: SharedRun<PermissionDenied, null> = async (ctx, denials) => {
  await ctx.auditTrail.recordRead(ctx, ...denials.map(denialOf));
  return denials.map(() => null);
};

function deniedIn(ctx: Context): Denied {
  const denied = DENIED.get(ctx) ?? { fields: new Set(), attempts: new Set() };
  DENIED.set(ctx, denied);
  return denied;
}

/** `projects.nodes.tags`: the path of a field in the response, without positions in lists. */
function fieldPath(path: GraphQLResolveInfo['path'] | undefined): string {
  const names: string[] = [];
  for (let at = path; at !== undefined; at = at.prev) if (typeof at.key === 'string') names.push(at.key);
  return names.reverse().join('.');
}
