import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import type { RotationKind, RotationType } from '../kind/rotation-kind.js';
import { DatatoolServiceToken } from './datatool-service-token/token-kind.js';
import { HostosLocalAccount } from './hostos-local-account/account-kind.js';

/** Every type of rotation. */
export class Kinds {
  readonly all: readonly RotationKind[];

  constructor(policy: TargetPolicy) {
    this.all = [new DatatoolServiceToken(policy), new HostosLocalAccount(policy)];
  }

  /** @throws Error for a type that is not in the list */
  of(type: RotationType): RotationKind {
    const kind = this.all.find((one) => one.type === type);
    if (kind === undefined) throw new Error('there is no such type of rotations');
    return kind;
  }
}
