import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import type { KindDeclaration } from '../kind/kind-declaration.js';
import type { RotationKind } from '../kind/rotation-kind.js';
import { DATATOOL_SERVICE_TOKEN } from './datatool-service-token/token-declaration.js';
import { HOSTOS_LOCAL_ACCOUNT } from './hostos-local-account/account-declaration.js';

const DECLARED = [DATATOOL_SERVICE_TOKEN, HOSTOS_LOCAL_ACCOUNT] as const satisfies readonly KindDeclaration[];

/** The types of rotations. Source: specification 16 to 18. */
export type RotationType = (typeof DECLARED)[number]['type'];

/** What is declared of every type, in the order in which they are shown. A new type is a folder, and a row here. */
export const DECLARATIONS: readonly KindDeclaration<RotationType>[] = DECLARED;

export const ROTATION_TYPES: readonly RotationType[] = DECLARED.map(({ type }) => type);

/** Makes something of every type. @returns what was made of a type */
export function ofEveryType<T>(make: (declared: KindDeclaration<RotationType>) => T): (type: RotationType) => T {
  const made = new Map(DECLARATIONS.map((declared) => [declared.type, make(declared)]));
  return (type) => {
    const one = made.get(type);
    if (one === undefined) throw new Error('there is no such type of rotations');
    return one;
  };
}

/** What carries out each type of rotation. */
export class Kinds {
  /** @throws Error for a type that is not in the list */
  readonly of: (type: RotationType) => RotationKind<RotationType>;

  constructor(policy: TargetPolicy) {
    this.of = ofEveryType((declared) => declared.create(policy));
  }

  /** All of them, in the order in which they are shown. */
  get all(): readonly RotationKind<RotationType>[] {
    return ROTATION_TYPES.map(this.of);
  }
}
