import { DATATOOL } from './datatool/datatool-kind.js';
import type { ConnectionKind } from './kind/connection-kind.js';
import { SMB } from './smb/smb-kind.js';

/** A kind whose rules are not known to the types. */
export type AnyKind = ConnectionKind;

/** Every app that can be connected, in the order in which they are shown. */
export const KINDS: readonly AnyKind[] = [DATATOOL as unknown as AnyKind, SMB as unknown as AnyKind];
