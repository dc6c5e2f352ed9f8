import { LockMode } from '@mikro-orm/core';
import type { Transaction } from '../../../kernel/context.js';
import { SecretRotation } from './rotation.entity.js';

/** A rotation, locked until the transaction ends; null when it is gone. All that change one lock it before its attempt. */
export const lockRotation = (tx: Transaction, id: string): Promise<SecretRotation | null> =>
  tx.em.findOne(SecretRotation, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
