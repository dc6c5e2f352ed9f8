import { DATATOOL } from './datatool/datatool-kind.js';
import type { ConnectionKind } from './kind/connection-kind.js';
import { SMB } from './smb/smb-kind.js';

/** A kind whose rules are not known to the types. */
export type AnyKind = ConnectionKind;

/** Every app that can be connected, in the order in which they are shown. */
export const KINDS: readonly AnyKind[] = [DATATOOL as unknown as AnyKind, SMB as unknown as AnyKind];

/** Names of apps, in paths and rows. */
export const APPS = ['datatool', 'smb'] as const;
export type App = (typeof APPS)[number];

/** The kind of an app. @throws Error for one that is not in the list */
export function kindOf(app: string): AnyKind {
  const found = KINDS.find((kind) => kind.app === app);
  if (found === undefined) throw new Error('there is no such kind of connections');
  return found;
}
