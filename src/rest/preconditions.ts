import type { AnyContext } from '../kernel/context.js';
import { AppError, toAppError } from '../kernel/errors.js';
import type { ResponseLoad } from '../kernel/load/load.js';
import { hasStrongTag, jsonResponse } from '../kernel/operations/responses/response.js';
import type { CompiledRoute } from './compiled-route.js';
import type { Data } from './route.js';

interface Conditional {
  readonly params: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The header field; undefined: unconditional. */
  readonly ifMatch: string | undefined;
  readonly load: ResponseLoad;
}

/**
 * Runs a change, where `If-Match` is given only on the state that its tag is of. The tag is compared with that of the present reply
 * of the GET; what was found there goes with the change, which checks it again under its lock.
 *
 * @throws PRECONDITION_FAILED, and whatever the change throws
 * Source: RFC 9110, 13.1.1.
 */
export async function runIfMatching(
  { route, run, current }: CompiledRoute,
  ctx: AnyContext,
  { params, variables, ifMatch, load }: Conditional,
): Promise<Data> {
  // `*` holds for whatever exists, and what does not is refused by the change.
  if (ifMatch === undefined || current === undefined || ifMatch.trim() === '*') return run(ctx, variables);
  const found = await current.run(ctx, current.route.variables({ params: { ...params }, query: {}, body: {} }));
  const present = await jsonResponse(current.route.reply(found), {}, load, true);
  if (!hasStrongTag(ifMatch, present)) throw new AppError('PRECONDITION_FAILED');
  const input = { ...(variables.input as object), ...route.ifMatch?.(found) };
  return run(ctx, { ...variables, input }).catch((thrown: unknown) => {
    throw toAppError(thrown).code === 'CONCURRENT_CHANGE'
      ? new AppError('PRECONDITION_FAILED', undefined, { cause: thrown })
      : thrown;
  });
}
