export { listsOf } from './export/export.service.js';
export type { ExportedRow } from './export/export.sql.js';
export { eventLine } from './export/export-lines.js';
export { readRows } from './export/export-rows.js';
