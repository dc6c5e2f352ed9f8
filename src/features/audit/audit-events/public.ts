export type { ExportedRow } from './event.sql.js';
export { eventLine, listsOf, readRows } from './export.service.js';
