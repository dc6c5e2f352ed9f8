import type { TargetPolicy } from '../../../../kernel/outbound/http.js';
import type { KindDeclaration, RotationKind } from '../kind/rotation-kind.js';
import { DATATOOL_SERVICE_TOKEN } from './datatool-service-token/service-token.js';
import { HOSTOS_LOCAL_ACCOUNT } from './hostos-local-account/local-account.js';

const DECLARED = [DATATOOL_SERVICE_TOKEN, HOSTOS_LOCAL_ACCOUNT] as const satisfies readonly KindDeclaration[];

/** The types of rotations (operations 16 to 18). */
export type RotationType = (typeof DECLARED)[number]['type'];

/** The declarations of all types, in display order. To add a type, add a folder and a row here. */
export const DECLARATIONS: readonly KindDeclaration<RotationType>[] = DECLARED;

export const ROTATION_TYPES: readonly RotationType[] = DECLARED.map(({ type }) => type);

/** Makes something of every type. @returns a look-up by type */
export function ofEveryType<T>(make: (declared: KindDeclaration<RotationType>) => T): (type: RotationType) => T {
  const made = new Map(DECLARATIONS.map((declared) => [declared.type, make(declared)]));
  return (type) => {
    const one = made.get(type);
    if (one === undefined) throw new Error('unknown type of rotations');
    return one;
  };
}

/** The implementation of each type. */
export class Kinds {
  /** @throws Error for an unknown type */
  readonly of: (type: RotationType) => RotationKind<RotationType>;

  constructor(policy: TargetPolicy) {
    this.of = ofEveryType((declared) => declared.create(policy));
  }

  /** All of them, in display order. */
  get all(): readonly RotationKind<RotationType>[] {
    return ROTATION_TYPES.map(this.of);
  }
}
