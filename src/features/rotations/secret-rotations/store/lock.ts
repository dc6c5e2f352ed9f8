import { LockMode } from '@mikro-orm/core';
import type { Transaction } from '../../../../kernel/context.js';
import { SecretRotation } from './rotation.entity.js';

/** Locks a rotation until the transaction ends; null if it was deleted. Every change locks the rotation before its attempt. */
export const lockRotation = (tx: Transaction, id: string): Promise<SecretRotation | null> =>
  tx.em.findOne(SecretRotation, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
