import { type EntityName, type FilterQuery, LockMode } from '@mikro-orm/core';
import type { Transaction } from '../context.js';
import { AppError, type ErrorCode } from '../errors.js';
import { isId } from '../ids.js';
import { type Connected, emOf } from './database.js';
import type { Statement } from './statement.js';

/** The row that a statement finds or changes. The `id` or `ids` of its key may be any text. @throws `notFound` */
export async function loadRow<P extends object, Row>(
  from: Connected,
  find: Statement<P, Row>,
  key: P,
  notFound: ErrorCode,
): Promise<Row> {
  const [row] = isFindable(key) ? await find(from, key) : [];
  if (row === undefined) throw new AppError(notFound);
  return row;
}

/** As `loadRow`, of an entity. @throws `notFound` */
export async function findRow<T extends object>(
  from: Connected,
  entity: EntityName<T>,
  key: FilterQuery<NoInfer<T>> & { readonly id: string },
  notFound: ErrorCode,
): Promise<T> {
  const row = isFindable(key) ? await emOf(from).findOne(entity, key) : null;
  if (row === null) throw new AppError(notFound);
  return row;
}

/** As `findRow`. Nobody else changes the row or refers to it until the transaction ends. @throws `notFound` */
export async function lockRow<T extends object>(
  tx: Transaction,
  entity: EntityName<T>,
  key: FilterQuery<NoInfer<T>> & { readonly id: string },
  notFound: ErrorCode,
): Promise<T> {
  const row = isFindable(key) ? await tx.em.findOne(entity, key, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (row === null) throw new AppError(notFound);
  return row;
}

const isFindable = (key: object): boolean =>
  ['id' in key ? key.id : [], 'ids' in key ? key.ids : []].flat().every((id) => isId(String(id)));
