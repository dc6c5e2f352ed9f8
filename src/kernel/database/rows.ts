import { type EntityName, type FilterQuery, LockMode } from '@mikro-orm/core';
import type { Transaction } from '../context.js';
import { AppError, type ErrorCode } from '../errors.js';
import { isId } from '../ids.js';
import type { Connected } from './database.js';
import type { Statement } from './statement.js';

/** What finds a row. Its `id` may be any text: one that is no id finds nothing. */
interface Key {
  readonly id?: string;
}

/** The row that a statement finds. @throws `notFound` */
export async function loadRow<P extends Key, Row>(
  from: Connected,
  find: Statement<P, Row>,
  key: P,
  notFound: ErrorCode,
): Promise<Row> {
  const [row] = isFindable(key) ? await find(from, key) : [];
  if (row === undefined) throw new AppError(notFound);
  return row;
}

/** The row of an entity, which nobody else changes or refers to until the transaction ends. @throws `notFound` */
export async function lockRow<T extends object>(
  tx: Transaction,
  entity: EntityName<T>,
  key: FilterQuery<NoInfer<T>> & Key,
  notFound: ErrorCode,
): Promise<T> {
  const row = isFindable(key) ? await tx.em.findOne(entity, key, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (row === null) throw new AppError(notFound);
  return row;
}

const isFindable = ({ id }: Key): boolean => id === undefined || isId(id);
