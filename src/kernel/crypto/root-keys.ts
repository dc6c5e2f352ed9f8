import type { RootKey } from './root-key.js';
import type { DataKey, SealPlace } from './seal.js';
import type { StableKeys } from './stable-keys.js';

/**
 * The root keys of this node: one or, while the root key of the installation changes, two. What either wrapped can be unwrapped.
 */
export class RootKeys {
  /** The one that the database had when this node asked, then the other. */
  readonly all: readonly RootKey[];

  /**
   * @param rootKey of `ROOT_KEY`
   * @param next of `NEXT_ROOT_KEY`
   * @param inUse the one of these that the database has
   */
  constructor(
    readonly rootKey: RootKey,
    readonly next: RootKey | null = null,
    readonly inUse: RootKey = rootKey,
  ) {
    const [other] = [rootKey, next].filter((key) => key !== inUse);
    this.all = other == null ? [inUse] : [inUse, other];
  }

  /** @throws SEALED_VALUE_INVALID unless one of these root keys wrapped it for this place */
  unwrap(record: Uint8Array, place: SealPlace): Buffer {
    return (this.all.find((rootKey) => rootKey.hasWrapped(record)) ?? this.inUse).unwrap(record, place);
  }
}

/** The root keys of this node, and the keys that the installation keeps when its root key changes. */
export class InstallationKeys extends RootKeys {
  constructor(
    { rootKey, next, inUse }: RootKeys,
    private readonly stable: StableKeys,
  ) {
    super(rootKey, next, inUse);
  }

  /** As `StableKeys.macKey`. */
  macKey(label: string): Buffer {
    return this.stable.macKey(label);
  }

  /** As `StableKeys.cursorKey`: the same on each node and after each start, without a statement. */
  cursorKey(organizationId: string, kind: string): DataKey {
    return this.stable.cursorKey(organizationId, kind);
  }
}
