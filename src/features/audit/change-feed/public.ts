export { ChangeKindEnum, toChangeEvent } from './change.resolver.js';
export { type ChangeFilter, WatchChanges } from './change.rules.js';
export type { ChangeKind } from './change-kinds.js';
export { type Change, readChanges } from './change-reading.js';
export { eventIdsOf, isAfterPosition, type Position, positionAfterRecord } from './position.js';
export { filterTest, visibleChange } from './visible-changes.js';
