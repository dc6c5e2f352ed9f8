export { announce, checkSoon } from './due.service.js';
