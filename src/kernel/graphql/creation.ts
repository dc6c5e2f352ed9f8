import type { EntityName, FilterQuery } from '@mikro-orm/core';
import * as z from 'zod';
import type { Context } from '../context.js';
import { emOf, queryOf } from '../database/database.js';
import { inTransaction } from '../database/in-transaction.js';
import { LOCK_NAME } from '../database/session.sql.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../errors.js';
import { isId } from '../ids.js';
import { check } from '../validation.js';
import { enumType } from './enums.js';
import type { PayloadFields, PayloadOf, ValueOf } from './inputs.js';
import { mutation, type OperationOf } from './operations.js';

/** The field of payloads that says whether something was created. */
export const CREATED = 'created';
/** The field of payloads of batches that has what existed already. */
export const EXISTING = 'existing';

const DESCRIPTION = 'What to do if it exists already, so that a script can run again.';
const choice = z.enum(['fail', 'return-existing']).meta({ description: DESCRIPTION });
export type OnConflict = z.output<typeof choice>;

/** The field of inputs that says what happens to what exists. */
export const onConflict = choice.default('fail');

enumType(
  'OnConflict',
  'What a creation does if there already is what it would create, by its natural key: slug, name, path, or what it belongs to.',
  {
    fail: 'It fails with an error that says so.',
    'return-existing':
      'It returns what exists, with `created: false` or in `existing` of the payload, and changes nothing. It fails with EXISTS_DIFFERENTLY if what exists differs from the input, defaults included. Roles, privileges and memberships that have ended or not begun differ, unless the input has the same start. Not compared are absent and null fields, credentials, the configuration of notification channels, the certificate of an authority and what becomes of its predecessor, and what a template gave. An input without an optional slug finds nothing. You need permission to read what exists.',
  },
  choice,
);

/**
 * What a field of the input is compared with: a value made from what exists, or null for what is not compared. `as` makes the same of
 * what the input says, where that has another form. `otherwise` is the same of an input that says nothing; without it, nothing is compared
 * then.
 */
type Comparison<Found> =
  | ((found: Found) => unknown)
  | null
  | { of(found: Found): unknown; as(wanted: never): unknown; readonly otherwise?: object };

/** The same for all fields of the input that what exists has not, and for some of those that it has. */
export type Comparisons<Wanted, Found> = {
  readonly [K in Exclude<keyof Wanted, keyof Found>]-?: Comparison<Found>;
} & { readonly [K in keyof Wanted]?: Comparison<Found> };

/** What is wanted of access that can end, where the input says neither when it starts nor when it ends. */
export const HOLDS_NOW = { isActive: true };

/** What is wanted of a term: one that holds now, if the input does not say when it starts. */
export const termWanted = <Term extends { readonly startsAt?: Date | null | undefined }>(term: Term): object =>
  term.startsAt == null ? { ...term, ...HOLDS_NOW } : term;

/** How a creation finds what exists already, by its natural key. */
interface Existing<Resolver, Wanted, P extends PayloadFields> {
  /** @throws an error of status 404, or returns null, where there is none */
  find(resolver: Resolver, ctx: Context, wanted: Wanted): Promise<Found<P> | null>;
  /**
   * The error of the creation if it exists: somebody may have created it a moment ago. Without one nothing keeps two from having
   * the same name, and creations that return what exists are serialized.
   */
  readonly taken?: ErrorCode;
  /**
   * What the creation does without a choice, for older clients: it returns what exists in its own way. It gets the choice, and says whether
   * it created something.
   */
  readonly unchosen?: string;
  /** Makes the form of the rules of an input that GraphQL has in another one. */
  readonly toRules?: (input: object) => object;
  /** Fields of the input that what exists has not, or not in the same form. */
  readonly compare: Comparisons<Wanted, Found<P>>;
}

type Found<P extends PayloadFields> = ValueOf<P[keyof P][0]>;

/**
 * A mutation, as `mutation` declares it, that can be repeated: with `onConflict: RETURN_EXISTING` it returns what exists already. Its
 * payload has one field, and says whether it was created.
 *
 * @param rules of the input, without `onConflict`
 */
export const creation =
  <R extends z.ZodObject, const P extends PayloadFields, Resolver extends object>(
    rules: R,
    payload: P,
    description: string,
    existing: Existing<Resolver, z.output<R>, P>,
  ): OperationOf<z.input<R>, PayloadOf<P>> =>
  (resolver, name, method) => {
    const create = method.value as unknown as (
      ctx: Context,
      input: object,
      chosen: Given['onConflict'],
    ) => Promise<PayloadOf<P>>;
    const [field] = Object.keys(payload) as [keyof P];

    async function createOrReturn(this: Resolver, ctx: Context, { onConflict: chosen, ...input }: Given) {
      const created = async (within: Context) => ({
        [CREATED]: true,
        ...(await create.call(this, within, input, chosen)),
      });
      const { data: wanted } = chosen === 'return-existing' ? check(rules, existing.toRules?.(input) ?? input) : {};
      // The creation reports all violations of the input.
      if (wanted === undefined) return created(ctx);
      const found = async (within: Context) => {
        const row = await orNone(existing.find(this, within, wanted)).catch(async (error: unknown) => {
          if (!(error instanceof AppError) || error.code !== 'PERMISSION_DENIED') throw error;
          // Who may not create it either learns only that, whether it exists or not. What is created here is rolled back.
          if (existing.taken !== undefined) return null;
          await created(within);
          throw error;
        });
        if (row === null) return null;
        refuseDifferences(wanted, row, existing.compare);
        return { [field]: row, [CREATED]: false };
      };
      const { taken } = existing;
      if (taken === undefined)
        return inTransaction(ctx, async (tx) => {
          await queryOf(tx)(LOCK_NAME, [`${name} ${tx.organizationId}`]);
          return (await found(tx)) ?? created(tx);
        });
      try {
        return (await found(ctx)) ?? (await created(ctx));
      } catch (error) {
        const now = error instanceof AppError && error.code === taken ? await found(ctx) : null;
        if (now === null) throw error;
        return now;
      }
    }

    method.value = createOrReturn as unknown as typeof method.value;
    const { unchosen } = existing;
    const rule =
      unchosen === undefined ? onConflict : choice.nullish().meta({ description: `${DESCRIPTION} ${unchosen}` });
    mutation(
      rules.safeExtend({ onConflict: rule }).meta(z.globalRegistry.get(rules) ?? {}),
      { ...payload, [CREATED]: [Boolean, 'Whether it was created: false if it existed already, unchanged.'] },
      description,
    )(resolver, name, method as never);
  };

interface Given {
  readonly onConflict?: OnConflict | null;
}

/** Of rows with the same name, at most as many are looked at. */
const MAX_NAMESAKES = 20;

/**
 * What has a natural key: the one row that the caller may read, of the first few where names are not unique.
 *
 * @param get reads it by its ID, with the rights and the audit of a read
 * @throws NAME_AMBIGUOUS for several that the caller may read; as `get` of the first if it may read none
 */
export async function oneNamed<Row extends { readonly id: string }, T>(
  ctx: Context,
  entity: EntityName<Row>,
  key: FilterQuery<NoInfer<Row>>,
  get: (id: string) => Promise<T>,
): Promise<T | null> {
  // No ID of the database: it must not reach Postgres.
  const isMalformed = ([name, value]: [string, unknown]) => /Id$/.test(name) && value !== null && !isId(String(value));
  if (Object.entries(key as object).some(isMalformed)) return null;
  const rows = await emOf(ctx).find(entity, key, { orderBy: { id: 'asc' } as never, limit: MAX_NAMESAKES });
  const readable: T[] = [];
  let refusal: unknown;
  for (const { id } of rows) {
    try {
      readable.push(await get(id));
    } catch (error) {
      if (!isHidden(error)) throw error;
      refusal ??= error;
    }
    if (readable.length > 1) throw new AppError('NAME_AMBIGUOUS');
  }
  const [found] = readable;
  if (found !== undefined) return found;
  if (refusal !== undefined) throw refusal;
  return null;
}

/** Whether an error says that there is none, or none for this caller. */
const isHidden = (error: unknown): boolean =>
  error instanceof AppError && (error.status === 404 || error.code === 'PERMISSION_DENIED');

/** Null in place of an error that says that there is none. */
async function orNone<T>(found: Promise<T | null>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return null;
    throw error;
  }
}

/** @throws EXISTS_DIFFERENTLY with every field of the input that differs */
function refuseDifferences(wanted: object, found: unknown, compare: Readonly<Record<string, Comparison<never>>>): void {
  const details = Object.keys({ ...wanted, ...compare }).flatMap((field): ErrorDetail[] => {
    const comparison = compare[field] === undefined ? (row: object) => row[field as never] : compare[field];
    if (comparison === null) return [];
    const { of, as, otherwise } =
      typeof comparison === 'function' ? { of: comparison, as: (same: unknown) => same } : comparison;
    const value: unknown = wanted[field as never];
    const expected = value == null ? otherwise : as(value as never);
    // What is not compared is not read either: not everybody may read it.
    const isEqual = expected === undefined || matches(expected, of(found as never));
    return isEqual ? [] : [{ path: `input.${field}`, code: 'DIFFERS', message: 'has another value in what exists' }];
  });
  if (details.length > 0) throw new AppError('EXISTS_DIFFERENTLY', undefined, { details });
}

/** Whether all that is wanted is there; what is absent or null is not wanted, and what is there may say more. */
export function matches(wanted: unknown, was: unknown): boolean {
  if (wanted === undefined || wanted === null) return true;
  if (wanted instanceof Date) return was instanceof Date && wanted.getTime() === was.getTime();
  if (typeof wanted === 'string' && typeof was === 'string' && isId(wanted))
    return wanted.toLowerCase() === was.toLowerCase();
  if (Array.isArray(wanted))
    return Array.isArray(was) && wanted.length === was.length && wanted.every((item, n) => matches(item, was[n]));
  if (typeof wanted === 'object')
    return (
      typeof was === 'object' &&
      was !== null &&
      Object.entries(wanted).every(([key, value]) => matches(value, (was as Record<string, unknown>)[key]))
    );
  return wanted === was;
}
