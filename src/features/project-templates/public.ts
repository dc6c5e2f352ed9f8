export { applyTemplate } from './template-application.js';
export { HOLD_STANDING } from './template-application.sql.js';
