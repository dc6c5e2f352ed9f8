import * as z from 'zod';
import { TargetFailure } from '../kind/target-failure.js';

/** IDs of the external system. */
const id = z.int().positive();
const status = z.looseObject({ is_success: z.boolean().nullish() }).nullish();

/** Required fields of a response; others are ignored. */
export const AccountResponse = z.looseObject({
  status,
  data: z.looseObject({ id: id.nullish(), name: z.string().nullish() }).nullish(),
});
export const ProjectsResponse = z.looseObject({
  status,
  data: z.array(
    z.looseObject({
      id,
      name: z.string(),
      description: z.string().nullish(),
      created_at: z.string().nullish(),
      updated_at: z.string().nullish(),
    }),
  ),
  extra: z.looseObject({ pagination: z.looseObject({ total_count: z.int().nullish() }).nullish() }).nullish(),
});
export const TokenResponse = z.looseObject({
  status,
  data: z.looseObject({ id, name: z.string(), state: z.int() }),
});
export const TokensResponse = z.looseObject({
  status,
  data: z.array(z.looseObject({ id, name: z.string(), state: z.int() })),
  extra: ProjectsResponse.shape.extra,
});
export const MadeTokenResponse = z.looseObject({
  status,
  data: z.looseObject({ id, name: z.string(), token_string: z.string().regex(/^[\x21-\x7e]{1,4096}$/) }),
});

/** A page of a list. */
export interface ListResponse<Row> {
  readonly status?: z.output<typeof status>;
  readonly data: readonly Row[];
  readonly extra?: z.output<typeof ProjectsResponse>['extra'];
}

/**
 * Parses a response body.
 *
 * @throws TargetFailure TARGET_RESPONSE_INVALID if it is no such JSON, TARGET_REJECTED if it reports a failure
 */
export function readResponse<R extends z.ZodType<{ readonly status?: z.output<typeof status> }>>(
  rules: R,
  body: Buffer,
  certainty: TargetFailure['certainty'],
): z.output<R> {
  const { data } = rules.safeParse(parsed(body));
  const isRefused = z.looseObject({ status }).safeParse(parsed(body)).data?.status?.is_success === false;
  if (isRefused) throw new TargetFailure('TARGET_REJECTED', certainty);
  if (data === undefined) throw new TargetFailure('TARGET_RESPONSE_INVALID', certainty, undefined, null, true);
  return data;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
