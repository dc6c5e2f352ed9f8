export { applyTemplate, lockCurrentMembers } from './template-application.js';
