export { type ChangeFilter, WatchChanges } from './change.rules.js';
export { ChangeKindEnum, viewOf } from './change.type.js';
export type { ChangeKind } from './change-kinds.js';
export { type Change, readChanges } from './change-reading.js';
export { after, idsOf, isAfter, type Position } from './position.js';
export { filterTest, seenBy } from './seen-changes.js';
