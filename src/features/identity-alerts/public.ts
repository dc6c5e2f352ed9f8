export { checkAfterChanges } from './due.service.js';
