export { applyTemplate, lockPresent } from './template-application.js';
