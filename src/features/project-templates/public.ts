export { applyTemplate } from './template-application.js';
